/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread.h -- the state that the shim keeps for each thread that calls it
 *
 * The mark prevents a close from freeing the objects of a hot call: await_uses() in handle.c waits for its end. The
 * mark is odd while the thread is inside a call of the hot path. The text contains the messages that librpma logged
 * during the thread's current call.
 */
#ifndef RPMA_JAVA_THREAD_H
#define RPMA_JAVA_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_TEXT_SIZE 2048

struct thread {
	_Atomic uint64_t mark;
	_Atomic uint64_t call; /* odd between log_begin() and log_end() */
	size_t text_length;
	char text[THREAD_TEXT_SIZE];
	int error; /* of the first failure in the text */
	struct thread *previous;
	struct thread *next;
};

/* NULL until the thread's first call; initial-exec, because a general-dynamic slot costs a function call */
extern _Thread_local struct thread *thread_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* whether membarrier(2) is registered; if not, a full fence must follow each mark */
extern _Atomic bool thread_has_membarrier __attribute__((visibility("hidden")));

int thread_init(void);

/* whether this process has loaded the shim; a forked child has only one of the threads, and no end for the other marks
 */
bool thread_is_of_process(void);

/* makes the state of the calling thread; NULL if out of memory */
struct thread *thread_attach(void);

/* waits until each hot call that began before this function was called has ended */
void thread_wait_unmarked(void);

/* the same for all other calls, which can block: waits at most for this time */
void thread_wait_calls(int milliseconds);

static inline struct thread *thread_get(void)
{
	struct thread *thread = thread_self;
	return __builtin_expect(thread != NULL, 1) ? thread : thread_attach();
}

static inline void thread_begin(struct thread *thread)
{
	thread->text_length = 0;
	uint64_t mark = atomic_load_explicit(&thread->mark, memory_order_relaxed);
	atomic_store_explicit(&thread->mark, mark + 1, memory_order_relaxed);
	/* the mark is stored before the look at membarrier, which a close can give up in between */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&thread_has_membarrier, memory_order_relaxed), 1))
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
}

/* begins a call of the hot path; look up handles only after it; NULL if out of memory */
static inline struct thread *thread_mark(void)
{
	struct thread *thread = thread_get();
	if (__builtin_expect(thread == NULL, 0))
		return NULL;
	thread_begin(thread);
	return thread;
}

static inline void thread_unmark(struct thread *thread)
{
	uint64_t mark = atomic_load_explicit(&thread->mark, memory_order_relaxed);
	atomic_store_explicit(&thread->mark, mark + 1, memory_order_release);
}

#endif
