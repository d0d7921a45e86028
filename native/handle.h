/*
 * handle.h -- the handles that Java holds instead of pointers
 *
 * A handle is an index into a table that is never freed and the generation that the entry had when the object
 * was put in. Closing advances the generation, so that a stale handle is always recognised and never followed.
 *
 * Hot calls look their handles up between thread_mark() and thread_unmark(). All others take a counted hold.
 * handle_retire() ends the use of both kinds before the object is freed.
 */
#ifndef RPMA_JAVA_HANDLE_H
#define RPMA_JAVA_HANDLE_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "result.h"

/* a power of two; pages that are not used yet take address space alone */
#define HANDLE_ENTRIES (1U << 20)

struct handle_entry {
	_Atomic jlong handle; /* of the object; of an even generation while there is none */
	void *object;
	_Atomic uint32_t holds;
	int wait_fd;	      /* what a wait on the object polls, or -1 */
	_Atomic int close_fd; /* an eventfd that ends the waits at close; made by the first wait, else -1 */
	uint32_t next_free;
};

extern struct handle_entry handle_entries[HANDLE_ENTRIES] __attribute__((visibility("hidden")));

/* puts an object into the table; RPMA_E_NOMEM when it is full or out of memory, RPMA_E_UNKNOWN when there is no object */
jlong handle_new(void *object, int wait_fd);

/* the object with a counted hold on it, or NULL when closed */
void *handle_hold(jlong handle);
void handle_release(jlong handle);

/* with a counted hold: the fd that a wait polls; 0 or RESULT_CLOSED */
int handle_hold_fd(jlong handle, int *wait_fd);

/*
 * With a counted hold: the fd that a wait polls and the eventfd that ends it at close. 0, RESULT_CLOSED or
 * RPMA_E_PROVIDER with errno.
 */
int handle_hold_fds(jlong handle, int *wait_fd, int *close_fd);

/*
 * Ends all use of the handles (zeroes among them are passed over) and returns the first one's object, which the
 * caller then frees, or NULL when it is closed already. Waits for calls under way; wakes those that block.
 */
void *handle_retire(const jlong *handles, int count);

/* takes handles that nobody knows yet out of the table again; zeroes and errors among them are passed over */
void handle_drop(const jlong *handles, int count);

/* never NULL: what is no handle has an entry too, of another handle */
static inline struct handle_entry *handle_entry(jlong handle)
{
	return &handle_entries[(uint32_t)handle & (HANDLE_ENTRIES - 1)];
}

/* the object of a handle on which there is a hold, or NULL for 0 */
static inline void *handle_held(jlong handle)
{
	return handle_entry(handle)->object;
}

static inline bool handle_is_of(const struct handle_entry *entry, jlong handle)
{
	return atomic_load_explicit(&entry->handle, memory_order_acquire) == handle;
}

/* by its generation */
static inline bool handle_is_of_object(jlong handle)
{
	return (handle >> 32 & 1) != 0;
}

static inline bool handle_is_open(const struct handle_entry *entry, jlong handle)
{
	return handle_is_of_object(handle) && handle_is_of(entry, handle);
}

/*
 * The object of an open handle, or NULL; only between thread_mark() and thread_unmark(). For 0, the handle of what is left
 * out, NULL too: entry 0 has no object.
 */
static inline void *handle_marked(jlong handle)
{
	const struct handle_entry *entry = handle_entry(handle);
	return __builtin_expect(handle_is_of(entry, handle), 1) ? entry->object : NULL;
}

#endif
