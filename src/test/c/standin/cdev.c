/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cdev.c -- replaces functions of the C library, so that librdmacm's calls on its device file, /dev/infiniband/rdma_cm,
 * reach the stand-in instead of the kernel
 */
#include "standin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RDMA_CM "/dev/infiniband/rdma_cm"

enum { MOST_DESCRIPTORS = 65536 };
static struct cm_file *files[MOST_DESCRIPTORS];

struct cm_file *cm_file_of(int fd)
{
	return fd >= 0 && fd < MOST_DESCRIPTORS ? __atomic_load_n(&files[fd], __ATOMIC_ACQUIRE) : NULL;
}

static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);
	if (function == NULL)
		die("no %s", name);
	return function;
}

int open(const char *path, int flags, ...)
{
	static int (*real)(const char *, int, ...);
	if (real == NULL)
		real = (int (*)(const char *, int, ...))next("open");
	va_list arguments;
	va_start(arguments, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (strcmp(path, RDMA_CM) != 0)
		return real(path, flags, mode);
	int error = fault("open");
	if (error != 0) {
		errno = error;
		return -1;
	}
	int fd = ready_open();
	if (fd >= MOST_DESCRIPTORS)
		die("a descriptor as high as %d", fd);
	if (fd >= 0)
		__atomic_store_n(&files[fd], cm_file_new(fd), __ATOMIC_RELEASE);
	return fd;
}

int fstat(int fd, struct stat *status)
{
	static int (*real)(int, struct stat *);
	if (real == NULL)
		real = (int (*)(int, struct stat *))next("fstat");
	int result = real(fd, status);
	if (result == 0 && cm_file_of(fd) != NULL) {
		struct stat device;
		status->st_mode = S_IFCHR | 0600;
		status->st_rdev = stat(RDMA_CM, &device) == 0 ? device.st_rdev : 0;
	}
	return result;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
	static ssize_t (*real)(int, const void *, size_t);
	if (real == NULL)
		real = (ssize_t(*)(int, const void *, size_t))next("write");
	struct cm_file *file = cm_file_of(fd);
	return file == NULL ? real(fd, bytes, count) : cm_write(file, bytes, count);
}

int close(int fd)
{
	static int (*real)(int);
	if (real == NULL)
		real = (int (*)(int))next("close");
	struct cm_file *file = cm_file_of(fd);
	if (file != NULL) {
		__atomic_store_n(&files[fd], NULL, __ATOMIC_RELEASE);
		cm_file_close(file);
	}
	return real(fd);
}
