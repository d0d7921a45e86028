/*
 * wait.h -- the one place where a thread blocks: until an object has something to say, is closed, or the waiter is woken
 */
#ifndef RPMA_JAVA_WAIT_H
#define RPMA_JAVA_WAIT_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* of a wait, as in Waiter; besides them it may end with HANDLE_CLOSED or librpma's code */
enum wait_outcome { WAIT_TIMED_OUT = 0, WAIT_READY = 1, WAIT_WOKEN = -2 };

/* made by wait_begin(); holds the handle */
struct wait {
	jlong handle;
	int wait_fd;
	int close_fd;
	int wake_fd;
	int64_t deadline;
};

/* a negative timeout waits without end; 0, HANDLE_CLOSED or librpma's code, after which there is nothing to end */
int wait_begin(struct wait *wait, jlong handle, jint wake_fd, jlong timeout);

/* blocks; may be called several times */
jint wait_ready(const struct wait *wait);

/* whether the time is up */
bool wait_is_over(const struct wait *wait);

void wait_end(const struct wait *wait);

#endif
