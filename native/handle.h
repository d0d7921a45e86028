/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle.h -- the handles that Java holds instead of pointers
 *
 * A handle consists of an index into a table that is never freed, and of the generation of the entry when the object
 * was stored. Closing advances the generation. A stale handle is therefore always recognised and never followed.
 *
 * Hot calls look up their handles between thread_mark() and thread_unmark(). All other calls take a counted hold. A
 * close ends both kinds of use before the object is freed. handleEndUses() ends the uses of many objects together:
 * their handles are then retired, and their entries stay taken until handle_take() returns the objects.
 *
 * The parts of an object, for example the queues of a connection, are freed with the object, so their uses end
 * together.
 */
#ifndef RPMA_JAVA_HANDLE_H
#define RPMA_JAVA_HANDLE_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* a power of two; unused pages take only address space */
#define HANDLE_ENTRIES (1U << 20)

/* fills a cache line: a wait writes the holds of one entry, and must not delay posts, which read other entries */
struct handle_entry {
	_Alignas(64) _Atomic jlong handle; /* the current handle; its generation is odd while an object is open */
	void *object;
	_Atomic uint32_t holds;
	int wait_fd;	      /* the descriptor that a wait on the object polls, or -1 */
	_Atomic int close_fd; /* the eventfd that ends the waits at close; -1 until the first wait makes it */
	uint32_t next_free;   /* in the list of free entries, or in the list of a close */
	uint32_t next_part;   /* of an object: its first part; of a part: the next part of the object */
};

extern struct handle_entry handle_entries[HANDLE_ENTRIES] __attribute__((visibility("hidden")));

/* stores an object in the table; RPMA_E_NOMEM if the table is full, RPMA_E_UNKNOWN if the object is NULL */
jlong handle_new(void *object, int wait_fd);

/* takes a counted hold and returns the object; NULL if the handle is closed */
void *handle_hold(jlong handle);
void handle_release(jlong handle);

/* takes a counted hold and stores the fd that a wait polls; 0 or RESULT_CLOSED */
int handle_hold_fd(jlong handle, int *wait_fd);

/*
 * Takes a counted hold and stores the fd that a wait polls and the eventfd that ends the wait at close. Returns 0,
 * RESULT_CLOSED or RPMA_E_PROVIDER with errno.
 */
int handle_hold_fds(jlong handle, int *wait_fd, int *close_fd);

/*
 * Makes the objects of the handles parts of a whole. Skips zeroes. The caller makes sure that the whole is not closed
 * during the call.
 */
void handle_join(jlong whole, const jlong *parts, int count);

/*
 * Returns the object of the handle, which the caller then frees, and gives the entries of the object and its parts back
 * to the table. First ends the uses, unless the handle is retired: wakes the calls that block, and waits for all calls
 * under way. NULL if the object is already taken, or if another thread is ending its uses.
 */
void *handle_take(jlong handle);

/* removes from the table handles that no other code knows yet; skips zeroes and errors */
void handle_drop(const jlong *handles, int count);

/* never NULL: any value selects an entry, possibly the entry of another handle */
static inline struct handle_entry *handle_entry(jlong handle)
{
	return &handle_entries[(uint32_t)handle & (HANDLE_ENTRIES - 1)];
}

/* the object of a handle that a hold protects; NULL for the handle 0 */
static inline void *handle_held(jlong handle)
{
	return handle_entry(handle)->object;
}

static inline bool handle_is_of(const struct handle_entry *entry, jlong handle)
{
	return atomic_load_explicit(&entry->handle, memory_order_acquire) == handle;
}

/* the generation of an open object is odd */
static inline bool handle_is_of_object(jlong handle)
{
	return (handle >> 32 & 1) != 0;
}

static inline bool handle_is_open(const struct handle_entry *entry, jlong handle)
{
	return handle_is_of_object(handle) && handle_is_of(entry, handle);
}

/*
 * The object of an open handle, or NULL. Call this only between thread_mark() and thread_unmark(). The handle 0 stands
 * for an omitted argument and gives NULL, because entry 0 has no object.
 */
static inline void *handle_marked(jlong handle)
{
	const struct handle_entry *entry = handle_entry(handle);
	return __builtin_expect(handle_is_of(entry, handle), 1) ? entry->object : NULL;
}

#endif
