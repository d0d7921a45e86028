/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c -- a thread waits until an object is ready, the object is closed, or the thread is woken
 */
#include "wait.h"

#include <errno.h>
#include <librpma.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "handle.h"
#include "log.h"
#include "natives.h"

#define NANOS_PER_SECOND 1000000000LL
#define NANOS_PER_MILLISECOND 1000000LL

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * NANOS_PER_SECOND + time.tv_nsec;
}

/*
 * Waits for whole milliseconds by poll(2): after the process was stopped, the kernel continues it with the former
 * deadline, but ppoll(2) with the former rest. Sets whether the deadline has passed afterwards.
 */
static int poll_once(struct pollfd *fds, nfds_t count, int64_t left, bool *last)
{
	*last = left < NANOS_PER_MILLISECOND;
	if (*last) {
		const struct timespec rest = { 0, left > 0 ? (long)left : 0 };
		return ppoll(fds, count, &rest, NULL);
	}
	int64_t millis = left / NANOS_PER_MILLISECOND;
	return poll(fds, count, millis > INT_MAX ? INT_MAX : (int)millis);
}

/* the deadline WAIT_FOREVER is never reached */
static int poll_until(struct pollfd *fds, nfds_t count, int64_t deadline)
{
	for (;;) {
		bool last = false;
		int ready = deadline == WAIT_FOREVER ? poll(fds, count, -1)
						     : poll_once(fds, count, deadline - now(), &last);
		if (ready > 0 || (ready == 0 && last) || (ready < 0 && errno != EINTR))
			return ready;
	}
}

static int failed(const char *what)
{
	int error = errno;
	log_begin();
	return log_end(log_error(what, error));
}

/* the deadline 0 is in the past */
static int64_t deadline_of(jlong timeout)
{
	int64_t deadline = timeout;
	if (timeout != 0 && timeout != WAIT_FOREVER && __builtin_add_overflow(now(), timeout, &deadline))
		deadline = WAIT_FOREVER;
	return deadline;
}

int wait_begin(struct wait *wait, jlong handle, jint wake_fd, jlong timeout)
{
	wait->handle = handle;
	wait->close_fd = -1;
	wait->wake_fd = wake_fd;
	wait->event_fd = -1;
	wait->deadline = deadline_of(timeout);
	/* a call that does not block needs no descriptor that wakes it when the object is closed */
	int rc = timeout == 0 ? handle_hold_fd(handle, &wait->wait_fd)
			      : handle_hold_fds(handle, &wait->wait_fd, &wait->close_fd);
	return rc == RPMA_E_PROVIDER ? failed("eventfd()") : rc;
}

void wait_watch(struct wait *wait, jlong events)
{
	if (events != 0)
		wait->event_fd = handle_entry(events)->wait_fd;
}

/* blocks; can be called repeatedly */
static jint await_ready(const struct wait *wait)
{
	struct pollfd fds[] = { { wait->wait_fd, POLLIN, 0 },
				{ wait->close_fd, POLLIN, 0 },
				{ wait->wake_fd, POLLIN, 0 },
				{ wait->event_fd, POLLIN, 0 } };
	int ready = poll_until(fds, wait->event_fd < 0 ? 3 : 4, wait->deadline);
	if (ready < 0)
		return failed("poll()");
	if (fds[1].revents != 0)
		return RESULT_CLOSED;
	/* tested before the object: a queue can be ready each time while other threads take its completions; this would
	 * hide the wake-up */
	if ((fds[2].revents | fds[3].revents) != 0)
		return RESULT_WOKEN;
	return fds[0].revents != 0 ? RESULT_READY : RESULT_TIMED_OUT;
}

static bool is_over(const struct wait *wait)
{
	return wait->deadline != WAIT_FOREVER && (wait->deadline == 0 || now() >= wait->deadline);
}

static jint arm_and_take(const struct wait_source *source, jint capacity, struct ibv_wc *completions)
{
	jint rc = source->arm(source->queues);
	return rc != 0 ? rc : source->take(source->queues, capacity, completions);
}

jint wait_take(const struct wait *wait, const struct wait_source *source, bool armed, jint capacity,
	       struct ibv_wc *completions)
{
	jint result = armed ? source->take(source->queues, capacity, completions)
			    : arm_and_take(source, capacity, completions);
	/* other threads may take each completion that arrives, so the deadline is checked after an event too */
	while (result == RESULT_TIMED_OUT && !is_over(wait)) {
		result = await_ready(wait);
		if (result == RESULT_READY)
			result = arm_and_take(source, capacity, completions);
	}
	return result;
}

void wait_end(const struct wait *wait)
{
	handle_release(wait->handle);
}

static jint await(JNI_PARAMS, jlong handle, jint wake_fd, jlong timeout)
{
	struct wait wait;
	int rc = wait_begin(&wait, handle, wake_fd, timeout);
	if (rc != 0)
		return rc;
	jint outcome = await_ready(&wait);
	wait_end(&wait);
	return outcome;
}

static jint waker_new(JNI_PARAMS)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return fd < 0 ? RESULT_ERRNO - errno : fd;
}

static void waker_wake(JNI_PARAMS, jint fd)
{
	/* fails only if the counter is full, and then the waiter is already woken */
	(void)eventfd_write(fd, 1);
}

static void waker_reset(JNI_PARAMS, jint fd)
{
	eventfd_t count;
	/* fails only if the waker is already reset */
	(void)eventfd_read(fd, &count);
}

static const JNINativeMethod methods[] = {
	{ "await", "(JIJ)I", await },
	{ "wakerNew", "()I", waker_new },
	{ "wakerWake", "(I)V", waker_wake },
	{ "wakerReset", "(I)V", waker_reset },
};

const struct jni_table wait_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
