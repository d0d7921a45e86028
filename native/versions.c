/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * versions.c -- how librpma was built, and whether the loaded libibverbs suits it
 */
#include "versions.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <librpma.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "natives.h"

struct image {
	uintptr_t address;
	const char *name;
	size_t size;
	bool found;
};

static bool is_of(const struct dl_phdr_info *object, uintptr_t address)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
		if (segment->p_type == PT_LOAD && address >= begin && address - begin < segment->p_memsz)
			return true;
	}
	return false;
}

/*
 * Searches for the name in the shared object that contains the address; ends the iteration at this object. Also in the
 * segments that can be written: patchelf moves the names of functions there.
 */
static int find_in_image(struct dl_phdr_info *object, size_t size __attribute__((unused)), void *data)
{
	struct image *image = data;
	if (!is_of(object, image->address))
		return 0;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		const void *begin = (const void *)(object->dlpi_addr + segment->p_vaddr);
		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) != 0)
			image->found = image->found ||
				       memmem(begin, segment->p_filesz, image->name, image->size) != NULL;
	}
	return 1;
}

/*
 * Whether librpma contains a name. No function of librpma reports how it was built. The name begins with a null byte,
 * and size includes the null byte at its end.
 */
static bool librpma_has(const char *name, size_t size)
{
	struct image image = { .address = (uintptr_t)&rpma_flush, .name = name, .size = size };
	(void)dl_iterate_phdr(find_in_image, &image);
	return image.found;
}

bool versions_native_flush(void)
{
	/* this function logs its own name, and exists only if librpma was built with native flush */
	static const char name[] = "\0rpma_mr_flush";
	return librpma_has(name, sizeof(name));
}

bool versions_native_atomic_write(void)
{
	/* this function logs its own name only if librpma was built with native atomic write, or for debugging */
	static const char name[] = "\0rpma_utils_ibv_context_is_atomic_write_capable";
	return librpma_has(name, sizeof(name));
}

/* The numbers of functions that struct ibv_qp_ex has after wr_abort. */
enum {
	WITH_ATOMIC_WRITE = 1, /* since release 44 */
	WITH_FLUSH = 2,	       /* since release 45 */
};

/*
 * Whether the queue pairs of the loaded libibverbs have fewer functions than these. Behind the last function, each
 * queue pair has the private flags of libibverbs, where ibv_qp_to_qp_ex() reads that the functions can be used. The
 * symbols of libibverbs do not show this: releases 44 and 45 have the same ones.
 */
static bool queue_pairs_lack(size_t functions)
{
	union {
		struct ibv_qp qp;
		unsigned char bytes[sizeof(struct ibv_qp_ex) + 8 * sizeof(void *)];
	} pair = { .bytes = { 0 } };
	const size_t end = offsetof(struct ibv_qp_ex, wr_abort) + sizeof(void *);
	memset(&pair.bytes[end], 0xff, functions * sizeof(void *));
	return guard_real_qp_to_qp_ex()(&pair.qp) != NULL;
}

bool versions_native_operations_work(void)
{
	return !queue_pairs_lack(WITH_FLUSH) || (!versions_native_flush() && !queue_pairs_lack(WITH_ATOMIC_WRITE));
}

/*
 * The path of the shared object that contains the address, also if the file was deleted, as Java deletes what it
 * unpacks. The caller frees it.
 */
static char *path_of(void *address)
{
	Dl_info object;
	if (dladdr(address, &object) == 0)
		return NULL;
	char *path = realpath(object.dli_fname, NULL);
	return path != NULL ? path : strdup(object.dli_fname);
}

/*
 * NULL if librpma calls only functions that the queue pairs of the loaded libibverbs have, or if the guard keeps it
 * from others. Otherwise a description: librpma would jump to an invalid address.
 */
static jbyteArray versions_mismatch(JNI_PARAMS)
{
	static const char extended[] = "\0ibv_qp_to_qp_ex";
	if (guard_works() || versions_native_operations_work() || !librpma_has(extended, sizeof(extended)))
		return NULL;
	char *librpma = path_of((void *)&rpma_flush);
	char *libibverbs = path_of((void *)guard_real_qp_to_qp_ex());
	char text[2 * PATH_MAX + 256];
	int length = snprintf(text, sizeof(text),
			      "librpma (%s) was built with native %s and with rdma-core 45 or later, and calls "
			      "functions that the queue pairs of rdma-core %s (%s) lack",
			      librpma == NULL ? "?" : librpma, versions_native_flush() ? "flush" : "atomic write",
			      queue_pairs_lack(WITH_ATOMIC_WRITE) ? "43 or earlier" : "44",
			      libibverbs == NULL ? "?" : libibverbs);
	free(librpma);
	free(libibverbs);
	return jni_bytes(env, text, length);
}

static const JNINativeMethod methods[] = {
	{ "versionsMismatch", "()[B", versions_mismatch },
};

const struct jni_table versions_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
