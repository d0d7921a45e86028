/*
 * wait.h -- where a thread waits for an object: until that has something to say, is closed, or the waiter is woken
 */
#ifndef RPMA_JAVA_WAIT_H
#define RPMA_JAVA_WAIT_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <stdint.h>

/* Waiter.FOREVER in Java */
#define WAIT_FOREVER INT64_MAX

/* made by wait_begin(); holds the handle */
struct wait {
	jlong handle;
	int wait_fd;
	int close_fd;
	int wake_fd;
	int64_t deadline;
};

/* WAIT_FOREVER, as a timeout, waits without end; 0, RESULT_CLOSED or librpma's code, after which there is nothing to end */
int wait_begin(struct wait *wait, jlong handle, jint wake_fd, jlong timeout);

/* completions that are waited for */
struct wait_source {
	/* how many were taken, 0 when there is none, or an error */
	jint (*take)(const void *queues, jint capacity, struct ibv_wc *completions);
	/* takes a pending event, if there is one, and arms the queue: the next completion makes an event; 0 or an error */
	jint (*arm)(const void *queues);
	const void *queues;
};

/*
 * Waits for the first completion of a source that is armed and has none: how many were taken, an error of the source, or how
 * the wait has ended.
 */
jint wait_take(const struct wait *wait, const struct wait_source *source, jint capacity, struct ibv_wc *completions);

void wait_end(const struct wait *wait);

#endif
