/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * object.c -- objects of the stand-in: counted, marked, poisoned when freed, never reused
 */
#include "standin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x5354414e44494e00ULL
#define FREED 0x4652454544000000ULL
#define POISON 0xdd

static const char *const names[KINDS] = {
	"completion channel", "completion queue", "protection domain", "memory region", "shared receive queue",
	"queue pair",	      "address handle",	  "event channel",     "CM id",		"CM event"
};

/* Headers are chained, so that a leak checker finds even freed objects reachable. */
struct header {
	uint64_t magic;
	uint64_t size;
	struct header *previous;
	uint64_t unused;
};

static struct header *last;
static int alive[KINDS];

enum { MOST = 65536, MOST_REGIONS = 1 << 20 };
static const char *const limits[KINDS] = {
	[CQ] = "max_cq", [PD] = "max_pd", [MR] = "max_mr", [SRQ] = "max_srq", [QP] = "max_qp", [AH] = "max_ah"
};
static int most[KINDS];

pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER;

void lock(void)
{
	if (pthread_mutex_lock(&big_lock) != 0)
		die("pthread_mutex_lock");
}

void unlock(void)
{
	if (pthread_mutex_unlock(&big_lock) != 0)
		die("pthread_mutex_unlock");
}

void die(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("stand-in: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	abort();
}

void *object_new(enum kind kind, size_t size)
{
	struct header *header = calloc(1, sizeof(*header) + size);
	if (header == NULL)
		die("no memory for a %s", names[kind]);
	header->magic = MAGIC + kind;
	header->size = size;
	header->previous = __atomic_exchange_n(&last, header, __ATOMIC_RELAXED);
	__atomic_add_fetch(&alive[kind], 1, __ATOMIC_RELAXED);
	return header + 1;
}

void *object_check(const void *object, enum kind kind, const char *call)
{
	if (object == NULL)
		die("%s: NULL instead of a %s", call, names[kind]);
	const struct header *header = (const struct header *)object - 1;
	uint64_t magic = __atomic_load_n(&header->magic, __ATOMIC_RELAXED);
	if (magic == FREED + kind)
		die("%s: a %s that was freed", call, names[kind]);
	if (magic != MAGIC + kind)
		die("%s: no %s", call, names[kind]);
	return (void *)object;
}

void *object_lock(const void *object, enum kind kind, const char *call)
{
	lock();
	return object_check(object, kind, call);
}

void object_free(void *object, enum kind kind, const char *call)
{
	object_check(object, kind, call);
	struct header *header = (struct header *)object - 1;
	__atomic_store_n(&header->magic, FREED + kind, __ATOMIC_RELAXED);
	memset(object, POISON, header->size);
	__atomic_sub_fetch(&alive[kind], 1, __ATOMIC_RELAXED);
}

int object_most(enum kind kind)
{
	int wanted = __atomic_load_n(&most[kind], __ATOMIC_RELAXED);
	return wanted != 0 ? wanted : kind == MR ? MOST_REGIONS : MOST;
}

int object_room(enum kind kind)
{
	return __atomic_load_n(&alive[kind], __ATOMIC_RELAXED) < object_most(kind) ? 0 : ENOMEM;
}

void standin_limit(const char *name, int wanted)
{
	for (int kind = 0; kind < KINDS; kind++)
		if (limits[kind] != NULL && strcmp(limits[kind], name) == 0) {
			__atomic_store_n(&most[kind], wanted, __ATOMIC_RELAXED);
			return;
		}
	die("no limit %s", name);
}

const char *standin_alive(void)
{
	static _Thread_local char text[512];
	size_t length = 0;
	text[0] = '\0';
	for (int kind = 0; kind < KINDS; kind++) {
		int count = __atomic_load_n(&alive[kind], __ATOMIC_RELAXED);
		if (count != 0)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%d %s",
						   length == 0 ? "" : ", ", count, names[kind]);
	}
	return text;
}
