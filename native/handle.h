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
#include <stdint.h>

/* what a native returns for a handle whose object is closed; librpma's own codes start at -100000 */
#define HANDLE_CLOSED (-1)

#define HANDLE_CHUNK_BITS 10
#define HANDLE_CHUNK_SIZE (1U << HANDLE_CHUNK_BITS)
#define HANDLE_CHUNKS 4096U

struct handle_entry {
	_Atomic uint32_t generation; /* odd while the entry is in use */
	uint32_t holds;
	void *object;
	int wait_fd;  /* what a wait on the object polls, or -1 */
	int close_fd; /* an eventfd that ends the waits at close; made by the first wait, else -1 */
	uint32_t next_free;
};

extern struct handle_entry *_Atomic handle_chunks[HANDLE_CHUNKS] __attribute__((visibility("hidden")));

/* puts an object into the table; RPMA_E_NOMEM when it is full or out of memory */
jlong handle_new(void *object, int wait_fd);

/* the object with a counted hold on it, or NULL when closed */
void *handle_hold(jlong handle);
void handle_release(jlong handle);

/* with a counted hold: the fd that a wait polls; 0 or HANDLE_CLOSED */
int handle_hold_fd(jlong handle, int *wait_fd);

/*
 * With a counted hold: the fd that a wait polls and the eventfd that ends it at close. 0, HANDLE_CLOSED or
 * RPMA_E_PROVIDER with its reason logged.
 */
int handle_hold_fds(jlong handle, int *wait_fd, int *close_fd);

/*
 * Ends all use of the handles (zeroes among them are passed over) and returns the first one's object, which the
 * caller then frees, or NULL when it is closed already. Waits for calls under way; wakes those that block.
 */
void *handle_retire(const jlong *handles, int count);

/* takes handles that nobody knows yet out of the table again; zeroes and errors among them are passed over */
void handle_drop(const jlong *handles, int count);

static inline struct handle_entry *handle_entry(jlong handle)
{
	uint32_t index = (uint32_t)handle;
	if (index >> HANDLE_CHUNK_BITS >= HANDLE_CHUNKS)
		return NULL;
	struct handle_entry *chunk = atomic_load_explicit(&handle_chunks[index >> HANDLE_CHUNK_BITS], memory_order_acquire);
	return chunk == NULL ? NULL : &chunk[index & (HANDLE_CHUNK_SIZE - 1)];
}

static inline int handle_is_open(const struct handle_entry *entry, jlong handle)
{
	return entry != NULL && handle > 0 &&
	       atomic_load_explicit(&entry->generation, memory_order_acquire) == (uint32_t)(handle >> 32);
}

/* the object of an open handle, or NULL; only between thread_mark() and thread_unmark() */
static inline void *handle_marked(jlong handle)
{
	const struct handle_entry *entry = handle_entry(handle);
	return __builtin_expect(handle_is_open(entry, handle), 1) ? entry->object : NULL;
}

#endif
