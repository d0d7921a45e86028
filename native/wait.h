/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h -- a thread waits until an object is ready, the object is closed, or the thread is woken
 */
#ifndef RPMA_JAVA_WAIT_H
#define RPMA_JAVA_WAIT_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "jni_util.h"

/* Waiter.FOREVER in Java */
#define WAIT_FOREVER INT64_MAX

/* initialised by wait_begin(); holds the handle */
struct wait {
	jlong handle;
	int wait_fd;
	int close_fd;
	int wake_fd;
	int event_fd; /* ends the wait as wake_fd does; -1 for none */
	int64_t deadline;
};

/*
 * The timeout is in nanoseconds, or WAIT_FOREVER. Returns 0, RESULT_CLOSED or librpma's code. If the result is 0,
 * wait_end() must follow. A wait with the timeout 0 does not block.
 */
int wait_begin(struct wait *wait, jlong handle, jint wake_fd, jlong timeout);

/* also ends the wait when an object is ready that is closed together with that of the wait; 0 for none */
void wait_watch(struct wait *wait, jlong events);

/* a source of completions that a thread waits for */
struct wait_source {
	/* the number of completions taken, 0 if there is none, or an error */
	jint (*take)(const void *queues, jint capacity, struct ibv_wc *completions);
	/*
	 * takes a pending event, if any, and arms the queue, so that the next completion creates an event; 0 or an
	 * error
	 */
	jint (*arm)(const void *queues);
	const void *queues;
};

/*
 * Takes completions. While there are none, waits until the object is ready, and arms the source; unless it is armed,
 * this comes first. Returns the number of completions taken, an error of the source, or the result of the wait.
 */
jint wait_take(const struct wait *wait, const struct wait_source *source, bool armed, jint capacity,
	       struct ibv_wc *completions);

void wait_end(const struct wait *wait);

#endif
