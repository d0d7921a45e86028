/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread.c -- the state that the shim keeps for each thread that calls it
 */
#include "thread.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Thread_local struct thread *thread_self __attribute__((tls_model("initial-exec")));
_Atomic bool thread_has_membarrier;

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *threads;
static pthread_key_t exit_key;
static pid_t owner;
static pthread_t registrar;
static bool registering;
static pthread_once_t registration = PTHREAD_ONCE_INIT;

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

static void detach(void *argument)
{
	struct thread *thread = argument;
	thread_self = NULL;
	pthread_mutex_lock(&threads_lock);
	if (thread->previous != NULL)
		thread->previous->next = thread->next;
	else
		threads = thread->next;
	if (thread->next != NULL)
		thread->next->previous = thread->previous;
	pthread_mutex_unlock(&threads_lock);
	free(thread);
}

static void *register_membarrier(void *argument __attribute__((unused)))
{
	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
		atomic_store(&thread_has_membarrier, true);
	return NULL;
}

static void end_registration(void)
{
	if (registering)
		pthread_join(registrar, NULL);
}

int thread_init(void)
{
	int rc = pthread_key_create(&exit_key, detach);
	if (rc != 0)
		return rc;
	owner = getpid();
	/* in a separate thread: the kernel takes 10 ms and more, and the program can look for its device meanwhile */
	registering = pthread_create(&registrar, NULL, register_membarrier, NULL) == 0;
	if (!registering)
		(void)register_membarrier(NULL);
	return 0;
}

struct thread *thread_attach(void)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	if (thread == NULL)
		return NULL;
	if (pthread_setspecific(exit_key, thread) != 0) {
		free(thread);
		return NULL;
	}
	pthread_mutex_lock(&threads_lock);
	thread->next = threads;
	if (threads != NULL)
		threads->previous = thread;
	threads = thread;
	pthread_mutex_unlock(&threads_lock);
	thread_self = thread;
	return thread;
}

/*
 * the wait is short: a marked call never blocks; it polls or re-arms a queue, or posts at most AT_ONCE operations of a
 * batch
 */
static void wait_unmarked(const struct thread *thread)
{
	uint64_t seen = atomic_load_explicit(&thread->mark, memory_order_acquire);
	if (seen % 2 == 0)
		return;
	while (atomic_load_explicit(&thread->mark, memory_order_acquire) == seen)
		sched_yield();
}

/*
 * A process can forbid itself membarrier(2) after the registration, by a filter of system calls. From then on each mark
 * has a fence. A mark that has none yet is visible after the pause, which is far longer than a processor keeps a store
 * to itself.
 */
static void give_up_membarrier(void)
{
	struct timespec pause = { 0, 10000000 };
	atomic_store(&thread_has_membarrier, false);
	while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
		continue;
}

/* a kernel that is short of memory refuses the expedited barrier; the caller must not continue without a barrier */
static void fence_all(void)
{
	while (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
		bool is_temporary = errno == ENOMEM;
		if (membarrier(MEMBARRIER_CMD_GLOBAL) == 0)
			return;
		if (!is_temporary) {
			give_up_membarrier();
			return;
		}
		sched_yield();
	}
}

void thread_wait_unmarked(void)
{
	/* after the registration of membarrier, marks have no fence: wait for the end of the registration, or the test
	 * below could miss such a mark */
	pthread_once(&registration, end_registration);
	/* before the barrier: no other close passes while one gives up membarrier */
	pthread_mutex_lock(&threads_lock);
	/* pairs with the fence in thread_mark(), of either kind: afterwards each thread either sees the earlier stores
	 * of the caller, or its mark is visible here */
	if (thread_has_membarrier)
		fence_all();
	else
		atomic_thread_fence(memory_order_seq_cst);

	for (const struct thread *thread = threads; thread != NULL; thread = thread->next)
		wait_unmarked(thread);
	pthread_mutex_unlock(&threads_lock);
}

bool thread_is_of_process(void)
{
	return getpid() == owner;
}

void thread_wait_calls(int milliseconds)
{
	const struct timespec pause = { 0, 1000000 };
	pthread_mutex_lock(&threads_lock);
	for (const struct thread *thread = threads; thread != NULL; thread = thread->next) {
		uint64_t seen = thread->call;
		while (seen % 2 == 1 && thread->call == seen && milliseconds-- > 0)
			nanosleep(&pause, NULL);
	}
	pthread_mutex_unlock(&threads_lock);
}
