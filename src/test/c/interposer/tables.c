/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tables.c -- the functions that are redirected, and their redirection
 */
#include "interposer.h"

#include <dlfcn.h>
#include <elf.h>
#include <infiniband/verbs.h>
#include <link.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The functions of libibverbs, librdmacm and the C library that librpma or the shim calls, and that affect resources.
 */
#define FUNCTIONS(X, caller) \
	X(caller, _ibv_query_gid_table, NEGATIVE, NO_OBJECT, 0) \
	X(caller, ibv_ack_cq_events, NOTHING, NO_OBJECT, 0) \
	X(caller, ibv_alloc_pd, NULL_ERRNO, PD, 1) \
	X(caller, ibv_create_ah, NULL_ERRNO, AH, 1) \
	X(caller, ibv_create_ah_from_wc, NULL_ERRNO, AH, 1) \
	X(caller, ibv_create_comp_channel, NULL_ERRNO, CHANNEL, 1) \
	X(caller, ibv_create_cq, NULL_ERRNO, CQ, 1) \
	X(caller, ibv_create_srq, NULL_ERRNO, SRQ, 1) \
	X(caller, ibv_dealloc_pd, NUMBER_AFTER, PD, -1) \
	X(caller, ibv_dereg_mr, NUMBER_AFTER, MR, -1) \
	X(caller, ibv_destroy_ah, NUMBER_AFTER, AH, -1) \
	X(caller, ibv_destroy_comp_channel, NUMBER_AFTER, CHANNEL, -1) \
	X(caller, ibv_destroy_cq, NUMBER_AFTER, CQ, -1) \
	X(caller, ibv_destroy_srq, NUMBER_AFTER, SRQ, -1) \
	X(caller, ibv_get_cq_event, ERRNO, NO_OBJECT, 0) \
	X(caller, ibv_query_device, NUMBER, NO_OBJECT, 0) \
	X(caller, ibv_query_port, NUMBER, NO_OBJECT, 0) \
	X(caller, ibv_reg_mr, NULL_ERRNO, MR, 1) \
	X(caller, ibv_reg_mr_iova2, NULL_ERRNO, MR, 1) \
	X(caller, rdma_accept, ERRNO_AFTER, NO_OBJECT, 0) \
	X(caller, rdma_ack_cm_event, ERRNO_AFTER, NO_OBJECT, 0) \
	X(caller, rdma_bind_addr, ERRNO, NO_OBJECT, 0) \
	X(caller, rdma_connect, ERRNO, NO_OBJECT, 0) \
	X(caller, rdma_create_ep, ERRNO, ID, 1) \
	X(caller, rdma_create_event_channel, NULL_ERRNO, EVENT_CHANNEL, 1) \
	X(caller, rdma_create_id, ERRNO, ID, 1) \
	X(caller, rdma_create_qp, ERRNO, QP, 1) \
	X(caller, rdma_create_qp_ex, ERRNO, QP, 1) \
	X(caller, rdma_create_srq, ERRNO, SRQ, 1) \
	X(caller, rdma_destroy_ep, NOTHING, ID, -1) \
	X(caller, rdma_destroy_event_channel, NOTHING, EVENT_CHANNEL, -1) \
	X(caller, rdma_destroy_id, ERRNO_AFTER, ID, -1) \
	X(caller, rdma_destroy_qp, NOTHING, QP, -1) \
	X(caller, rdma_destroy_srq, NOTHING, SRQ, -1) \
	X(caller, rdma_disconnect, ERRNO, NO_OBJECT, 0) \
	X(caller, rdma_freeaddrinfo, NOTHING, ADDRESS, -1) \
	X(caller, rdma_get_cm_event, ERRNO, NO_OBJECT, 0) \
	X(caller, rdma_get_devices, NULL_ERRNO, NO_OBJECT, 0) \
	X(caller, rdma_get_request, ERRNO, ID, 1) \
	X(caller, rdma_getaddrinfo, ERRNO, ADDRESS, 1) \
	X(caller, rdma_listen, ERRNO, NO_OBJECT, 0) \
	X(caller, rdma_migrate_id, ERRNO, NO_OBJECT, 0) \
	X(caller, rdma_reject, ERRNO_AFTER, NO_OBJECT, 0) \
	X(caller, rdma_resolve_addr, ERRNO, NO_OBJECT, 0) \
	X(caller, rdma_resolve_route, ERRNO, NO_OBJECT, 0) \
	X(caller, rdma_set_option, ERRNO, NO_OBJECT, 0) \
	X(caller, calloc, NULL_ERRNO, MEMORY, 1) \
	X(caller, malloc, NULL_ERRNO, MEMORY, 1) \
	X(caller, mmap, ERRNO, MAPPING, 1) \
	X(caller, munmap, ERRNO_AFTER, MAPPING, -1) \
	X(caller, poll, ERRNO, NO_OBJECT, 0) \
	X(caller, free, UNCOUNTED, MEMORY, -1)

/* The operations of a device that libibverbs calls by pointers. */
#define OPERATIONS(X) \
	X(device, poll_cq, NEGATIVE, NO_OBJECT, 0) \
	X(device, post_recv, BAD_REQUEST, NO_OBJECT, 0) \
	X(device, post_send, BAD_REQUEST, NO_OBJECT, 0) \
	X(device, post_srq_recv, BAD_REQUEST, NO_OBJECT, 0) \
	X(device, req_notify_cq, NUMBER, NO_OBJECT, 0)

#define DEFINE_REPLACEMENT(caller, name, failure, object, change) \
	static struct call caller##_##name; \
	static long replace_##caller##_##name(long a, long b, long c, long d, long e, long f) \
	{ \
		return intercept(&caller##_##name, a, b, c, d, e, f); \
	} \
	static struct call caller##_##name = { #caller, #name, failure, object, change, replace_##caller##_##name, \
					       NULL,	{ 0 } };

FUNCTIONS(DEFINE_REPLACEMENT, librpma)
FUNCTIONS(DEFINE_REPLACEMENT, shim)
OPERATIONS(DEFINE_REPLACEMENT)

#define POINTER_TO(caller, name, failure, object, change) &caller##_##name,

static struct call *const calls[] = { FUNCTIONS(POINTER_TO, librpma) FUNCTIONS(POINTER_TO, shim)
					      OPERATIONS(POINTER_TO) };
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

void die(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("interposer: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	abort();
}

struct call *call_named(const char *caller, const char *name)
{
	for (int i = 0; i < CALLS; i++)
		if (strcmp(calls[i]->caller, caller) == 0 && strcmp(calls[i]->name, name) == 0)
			return calls[i];
	return NULL;
}

void reset_counts(void)
{
	for (int i = 0; i < CALLS; i++)
		memset(calls[i]->counts, 0, sizeof(calls[i]->counts));
}

/*
 * What the dynamic linker finds for librpma and for the shim: the function of a preloaded library, such as the
 * stand-in, of the shim, or of a library that they need.
 */
static function *real_of(const char *name, const char *shim)
{
	void *handle = dlopen(shim, RTLD_LAZY | RTLD_NOLOAD);
	void *found = dlsym(RTLD_DEFAULT, name);
	if (found == NULL && handle != NULL)
		found = dlsym(handle, name);
	if (found == NULL)
		die("no %s for %s", name, shim);
	return (function *)found;
}

/* The linker may have made the table read-only. */
static void set_entry(function **entry, function *to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	if (mprotect((void *)((uintptr_t)entry & -page), page, PROT_READ | PROT_WRITE) != 0)
		die("mprotect() failed");
	__atomic_store_n(entry, to, __ATOMIC_RELEASE);
}

/* The parts of a library by which it calls others. */
struct dynamic {
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * relocations[2];
	size_t sizes[2];
};

static struct dynamic dynamic_of(const struct dl_phdr_info *library)
{
	struct dynamic dynamic = { 0 };
	const ElfW(Dyn) *entry = NULL;
	for (int i = 0; i < library->dlpi_phnum; i++)
		if (library->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
	for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			dynamic.symbols = (const void *)entry->d_un.d_ptr;
			break;
		case DT_STRTAB:
			dynamic.names = (const void *)entry->d_un.d_ptr;
			break;
		case DT_JMPREL:
			dynamic.relocations[0] = (const void *)entry->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			dynamic.sizes[0] = entry->d_un.d_val;
			break;
		case DT_RELA:
			dynamic.relocations[1] = (const void *)entry->d_un.d_ptr;
			break;
		case DT_RELASZ:
			dynamic.sizes[1] = entry->d_un.d_val;
			break;
		default:
			break;
		}
	}
	return dynamic;
}

static const char *caller_of(const struct dl_phdr_info *library)
{
	const char *slash = strrchr(library->dlpi_name, '/');
	const char *file = slash == NULL ? library->dlpi_name : slash + 1;
	return strncmp(file, "librpma.so", 10) == 0	? "librpma"
	       : strncmp(file, "librpma-java", 12) == 0 ? "shim"
							: NULL;
}

static int find_shim(struct dl_phdr_info *library, size_t size, void *name)
{
	(void)size;
	const char *caller = caller_of(library);
	if (caller == NULL || strcmp(caller, "shim") != 0)
		return 0;
	*(const char **)name = library->dlpi_name;
	return 1;
}

static int redirect_library(struct dl_phdr_info *library, size_t size, void *shim)
{
	(void)size;
	const char *caller = caller_of(library);
	if (caller == NULL)
		return 0;
	struct dynamic dynamic = dynamic_of(library);
	for (int table = 0; table < 2; table++) {
		for (size_t i = 0; i < dynamic.sizes[table] / sizeof(ElfW(Rela)); i++) {
			const ElfW(Rela) *relocation = &dynamic.relocations[table][i];
			const char *name = dynamic.names + dynamic.symbols[ELF64_R_SYM(relocation->r_info)].st_name;
			struct call *call = call_named(caller, name);
			if (call == NULL)
				continue;
			call->real = real_of(name, shim);
			set_entry((function **)(library->dlpi_addr + relocation->r_offset), call->replacement);
		}
	}
	return 0;
}

static void redirect_operation(function **operation, struct call *call)
{
	if (*operation == call->replacement)
		return;
	if (call->real != NULL && call->real != *operation)
		die("devices of two kinds");
	call->real = *operation;
	*operation = call->replacement;
}

static void redirect_devices(void)
{
	struct call *get_devices = call_named("shim", "rdma_get_devices");
	int count = 0;
	long list = get_devices->real((long)&count, 0, 0, 0, 0, 0);
	struct ibv_context **devices = (struct ibv_context **)list;
	for (int i = 0; i < count; i++) {
#define REDIRECT(caller, name, failure, object, change) \
	redirect_operation((function **)&devices[i]->ops.name, &caller##_##name);
		OPERATIONS(REDIRECT)
	}
	/* the shim pins each device in the same way: see device.c */
	free(devices);
}

void redirect(void)
{
	const char *shim = NULL;
	if (dl_iterate_phdr(find_shim, &shim) == 0)
		die("the shim is not loaded");
	dl_iterate_phdr(redirect_library, (void *)shim);
	redirect_devices();
}
