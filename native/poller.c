/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * poller.c -- Poller: one thread waits until any of many objects is ready
 */
#include <errno.h>
#include <librpma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "handle.h"
#include "log.h"
#include "natives.h"

/* the most events of one wait; the next wait returns the others */
#define MOST_READY 256

/* stands for the number of a watch in the events of the two eventfds that end a wait and belong to no object */
#define NO_NUMBER 0

struct poller {
	int epoll_fd;
	int wake_fd;
};

static void poller_free(struct poller *poller)
{
	if (poller->wake_fd >= 0)
		close(poller->wake_fd);
	if (poller->epoll_fd >= 0)
		close(poller->epoll_fd);
	free(poller);
}

static int control(const struct poller *poller, int operation, int fd, uint32_t events, uint64_t number)
{
	struct epoll_event event = { .events = events, .data = { .u64 = number } };
	return epoll_ctl(poller->epoll_fd, operation, fd, &event);
}

static int open_fds(struct poller *poller)
{
	poller->wake_fd = -1;
	poller->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (poller->epoll_fd < 0)
		return log_error("epoll_create1()", errno);
	poller->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (poller->wake_fd < 0)
		return log_error("eventfd()", errno);
	if (control(poller, EPOLL_CTL_ADD, poller->wake_fd, EPOLLIN, NO_NUMBER) != 0)
		return log_error("epoll_ctl()", errno);
	return 0;
}

/*
 * the close of the poller ends waits permanently: unlike the eventfd of wake-ups, the eventfd of the close is never
 * reset
 */
static int end_waits_at_close(const struct poller *poller, jlong handle)
{
	int wait_fd;
	int close_fd;
	int rc = handle_hold_fds(handle, &wait_fd, &close_fd);
	if (rc != 0)
		return rc == RPMA_E_PROVIDER ? log_error("eventfd()", errno) : rc;
	if (control(poller, EPOLL_CTL_ADD, close_fd, EPOLLIN, NO_NUMBER) != 0)
		rc = log_error("epoll_ctl()", errno);
	handle_release(handle);
	return rc;
}

static int adopt(struct poller *poller, jlong *handle)
{
	int rc = open_fds(poller);
	if (rc != 0)
		return rc;
	/* an epoll descriptor can be polled like any other */
	*handle = handle_new(poller, poller->epoll_fd);
	if (*handle < 0)
		return RPMA_E_NOMEM;
	rc = end_waits_at_close(poller, *handle);
	if (rc != 0)
		handle_drop(handle, 1);
	return rc;
}

static jlong poller_new(JNI_PARAMS)
{
	struct poller *poller = malloc(sizeof(*poller));
	if (poller == NULL)
		return RPMA_E_NOMEM;
	jlong handle = 0;
	log_begin();
	int rc = log_end(adopt(poller, &handle));
	if (rc == 0)
		return handle;
	poller_free(poller);
	return rc;
}

static jint poller_delete(JNI_PARAMS, jlong handle)
{
	struct poller *poller = handle_take(handle);
	if (poller == NULL)
		return RESULT_CLOSED;
	poller_free(poller);
	return 0;
}

static int watch(const struct poller *poller, int fd, uint64_t number, bool once, bool again)
{
	int operation = again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	uint32_t events = EPOLLIN | (once ? EPOLLONESHOT : 0);
	int result = control(poller, operation, fd, events, number);
	/* another object with the same descriptor is in the set */
	if (result != 0 && errno == EEXIST)
		result = control(poller, EPOLL_CTL_MOD, fd, events, number);
	return result == 0 ? 0 : log_error("epoll_ctl()", errno);
}

/* waits return the number of the object while it is ready, or once; the number must not be NO_NUMBER */
static jint poller_watch(JNI_PARAMS, jlong handle, jlong object, jlong number, jboolean once, jboolean again)
{
	const struct poller *poller = handle_hold(handle);
	if (poller == NULL)
		return RESULT_CLOSED;
	int fd;
	int rc = handle_hold_fd(object, &fd);
	if (rc == 0) {
		log_begin();
		rc = log_end(watch(poller, fd, (uint64_t)number, once, again));
		handle_release(object);
	}
	handle_release(handle);
	return rc;
}

/* does nothing if the object is not watched */
static void poller_unwatch(JNI_PARAMS, jlong handle, jlong object)
{
	const struct poller *poller = handle_hold(handle);
	if (poller == NULL)
		return;
	int fd;
	if (handle_hold_fd(object, &fd) == 0) {
		(void)control(poller, EPOLL_CTL_DEL, fd, 0, NO_NUMBER);
		handle_release(object);
	}
	handle_release(handle);
}

static jint take_numbers(const struct poller *poller, const struct epoll_event *events, int count, jlong *numbers)
{
	jint taken = 0;
	for (int i = 0; i < count; i++) {
		eventfd_t wakes;
		if (events[i].data.u64 != NO_NUMBER)
			numbers[taken++] = (jlong)events[i].data.u64;
		else
			/* fails if the close has ended the wait and no wake-up is pending */
			(void)eventfd_read(poller->wake_fd, &wakes);
	}
	return taken;
}

/* fills in the numbers of the ready objects and returns their count; a negative timeout waits indefinitely */
static jint poller_wait(JNI_PARAMS, jlong handle, jlongArray ready, jint timeout_ms)
{
	struct epoll_event events[MOST_READY];
	jlong numbers[MOST_READY];
	jsize capacity = (*env)->GetArrayLength(env, ready);
	const struct poller *poller = handle_hold(handle);
	if (poller == NULL)
		return RESULT_CLOSED;
	int count = epoll_wait(poller->epoll_fd, events, capacity < MOST_READY ? capacity : MOST_READY, timeout_ms);
	jint result = 0;
	if (count > 0) {
		result = take_numbers(poller, events, count, numbers);
	} else if (count < 0 && errno != EINTR) {
		log_begin();
		result = log_end(log_error("epoll_wait()", errno));
	}
	handle_release(handle);
	if (result > 0)
		(*env)->SetLongArrayRegion(env, ready, 0, result, numbers);
	return result;
}

static void poller_wake(JNI_PARAMS, jlong handle)
{
	const struct poller *poller = handle_hold(handle);
	if (poller == NULL)
		return;
	/* fails only if the counter is full, and then the poller is already woken */
	(void)eventfd_write(poller->wake_fd, 1);
	handle_release(handle);
}

static const JNINativeMethod methods[] = {
	{ "pollerNew", "()J", poller_new },	     { "pollerDelete", "(J)I", poller_delete },
	{ "pollerWatch", "(JJJZZ)I", poller_watch }, { "pollerUnwatch", "(JJ)V", poller_unwatch },
	{ "pollerWait", "(J[JI)I", poller_wait },    { "pollerWake", "(J)V", poller_wake },
};

const struct jni_table poller_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
