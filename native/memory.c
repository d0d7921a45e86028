/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c -- RpmaMemory: mappings of any size, anonymous, of files and of device DAX
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "natives.h"
#include "persist.h"

static jlong address_or_error(void *address)
{
	return address == MAP_FAILED ? RESULT_ERRNO - errno : (jlong)(intptr_t)address;
}

/*
 * page_bits is the binary logarithm of the size of huge pages, or 0 for ordinary pages. A child process does not get
 * the mapping: after a fork, older kernels give a copy of the page to the first process that writes to it, and the
 * device would continue with the original page.
 */
static jlong memory_map_anonymous(JNI_PARAMS, jlong size, jint page_bits)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	if (page_bits != 0)
		flags |= MAP_HUGETLB | (int)((unsigned)page_bits << MAP_HUGE_SHIFT);
	void *address = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (address == MAP_FAILED || madvise(address, (size_t)size, MADV_DONTFORK) == 0)
		return address_or_error(address);
	int error = errno;
	(void)munmap(address, (size_t)size);
	return RESULT_ERRNO - error;
}

static jint memory_open(JNI_PARAMS, jbyteArray path, jboolean writable, jboolean create)
{
	jbyte *text = (*env)->GetByteArrayElements(env, path, NULL);
	if (text == NULL)
		return RESULT_ERRNO - ENOMEM;
	int flags = (writable ? O_RDWR : O_RDONLY) | (create ? O_CREAT | O_EXCL : 0) | O_CLOEXEC;
	int fd = open((const char *)text, flags, 0666);
	int error = errno;
	(*env)->ReleaseByteArrayElements(env, path, text, JNI_ABORT);
	return fd < 0 ? RESULT_ERRNO - error : fd;
}

/* allocates the blocks too: on a full disk, an access to a sparse file would raise SIGBUS */
static jint memory_allocate(JNI_PARAMS, jint fd, jlong size)
{
	int error;
	do {
		error = posix_fallocate(fd, 0, size);
	} while (error == EINTR);
	return error == 0 ? 0 : RESULT_ERRNO - error;
}

/* sync maps only files that bypass the page cache (DAX), and fails with EOPNOTSUPP for others */
static jlong memory_map(JNI_PARAMS, jint fd, jlong size, jboolean writable, jboolean sync)
{
	int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
	int flags = sync ? MAP_SHARED_VALIDATE | MAP_SYNC : MAP_SHARED;
	return address_or_error(mmap(NULL, (size_t)size, protection, flags, fd, 0));
}

static void memory_close(JNI_PARAMS, jint fd)
{
	/* a mapping outlives its descriptor, and nothing was written through the descriptor */
	(void)close(fd);
}

static jint memory_unmap(JNI_PARAMS, jlong address, jlong size)
{
	return munmap(jni_pointer(address), (size_t)size) == 0 ? 0 : RESULT_ERRNO - errno;
}

/*
 * For a mapping of a device DAX, whose size is fixed. The address is the start of a page. The kernel refuses to
 * populate a broken page, at which the write-back instructions would end the process. EINVAL comes from a kernel
 * before 5.14.
 */
static jint memory_persist(JNI_PARAMS, jlong address, jlong before, jlong size)
{
	if (madvise(jni_pointer(address), (size_t)(before + size), MADV_POPULATE_READ) != 0 && errno != EINVAL)
		return RESULT_ERRNO - errno;
	persist((const char *)jni_pointer(address) + before, (size_t)size);
	return 0;
}

/*
 * For a mapping of a file. The address is the start of a page.
 *
 * After the kernel has written a page to the disk, it does not notice later writes of a device to the page (6.1: later
 * calls of msync(2) left the disk unchanged). Populating the pages for writing marks all of them as changed.
 *
 * msync(2) ignores pages that the file has lost. Populating the last page reports the loss.
 */
static jint memory_sync(JNI_PARAMS, jlong address, jlong size, jboolean all)
{
	char *pages = jni_pointer(address);
	if (all && madvise(pages, (size_t)size, MADV_POPULATE_WRITE) != 0)
		return RESULT_ERRNO - (errno == EINVAL ? EOPNOTSUPP : errno);
	if (msync(pages, (size_t)size, MS_SYNC) != 0)
		return RESULT_ERRNO - errno;
	jlong page_size = sysconf(_SC_PAGESIZE);
	char *last = pages + (size - 1) / page_size * page_size;
	/* EINVAL comes from a kernel before 5.14 */
	return madvise(last, (size_t)page_size, MADV_POPULATE_READ) == 0 || errno == EINVAL ? 0 : RESULT_ERRNO - errno;
}

static jlong memory_page_size(JNI_PARAMS)
{
	return sysconf(_SC_PAGESIZE);
}

/* 1 if the file is on a file system in memory, 0 if not */
static jint memory_is_in_memory(JNI_PARAMS, jint fd)
{
	struct statfs file_system;
	if (fstatfs(fd, &file_system) != 0)
		return RESULT_ERRNO - errno;
	return file_system.f_type == HUGETLBFS_MAGIC || file_system.f_type == TMPFS_MAGIC;
}

/* the size of the pages of a file's mapping */
static jlong memory_file_page_size(JNI_PARAMS, jint fd)
{
	struct statfs file_system;
	if (fstatfs(fd, &file_system) != 0)
		return RESULT_ERRNO - errno;
	return file_system.f_type == HUGETLBFS_MAGIC ? (jlong)file_system.f_bsize : sysconf(_SC_PAGESIZE);
}

/* the buffer does not own the mapping; the caller keeps the mapping while the buffer is reachable */
static jobject memory_buffer(JNI_PARAMS, jlong address, jlong size)
{
	return (*env)->NewDirectByteBuffer(env, jni_pointer(address), size);
}

/* the address of a direct buffer's first byte, or 0 if it has none */
static jlong buffer_address(JNI_PARAMS, jobject buffer)
{
	return (jlong)(intptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}

static const JNINativeMethod methods[] = {
	{ "memoryMapAnonymous", "(JI)J", memory_map_anonymous },
	{ "memoryOpen", "([BZZ)I", memory_open },
	{ "memoryAllocate", "(IJ)I", memory_allocate },
	{ "memoryMap", "(IJZZ)J", memory_map },
	{ "memoryClose", "(I)V", memory_close },
	{ "memoryUnmap", "(JJ)I", memory_unmap },
	{ "memoryPersist", "(JJJ)I", memory_persist },
	{ "memorySync", "(JJZ)I", memory_sync },
	{ "memoryPageSize", "()J", memory_page_size },
	{ "memoryIsInMemory", "(I)I", memory_is_in_memory },
	{ "memoryFilePageSize", "(I)J", memory_file_page_size },
	{ "memoryBuffer", "(JJ)Ljava/nio/ByteBuffer;", memory_buffer },
	{ "bufferAddress", "(Ljava/nio/ByteBuffer;)J", buffer_address },
};

const struct jni_table memory_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
