/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h -- librpma's log messages: the reasons of failures, and the path to Java's logger
 *
 * librpma reports the reason of a failed call only in its log. The messages of a call are kept in the text of the
 * calling thread. The warnings and errors of a failed call stay there for its exception. The messages of a marked call
 * that succeeds, and of a call that ends with log_discard(), are discarded. All other messages go to a ring at the end
 * of the call, and Java empties the ring. The shim never calls back into Java.
 */
#ifndef RPMA_JAVA_LOG_H
#define RPMA_JAVA_LOG_H

#include <stdbool.h>

#include "thread.h"

/* ends the messages to this copy of the shim */
void log_fini(void);

/* bracket each call that is not marked; log_end() returns rc */
void log_begin(void);
int log_end(int rc);

/* ends the messages that a failed hot call has logged since thread_mark(), as log_end() does; returns rc */
int log_failed(struct thread *thread, int rc);

/* whether the messages of the thread's current call contain this text */
bool log_says(const struct thread *thread, const char *text);

/* the errno of the first failure in these messages, or 0; a failed post reports its errno only in the log */
int log_errno(const struct thread *thread);

/* whether the current call has logged this failure and no other */
bool log_says_only(const struct thread *thread, const char *what, int error);

/*
 * Whether the current call, with result rc, found no pending event. errno alone is not sufficient: librpma can have set
 * it while it handled an event that it had taken, or while it cleaned up after another failure.
 */
bool log_says_no_event(const struct thread *thread, int rc);

/* logs a failure that librpma does not log, in librpma's format, and returns RPMA_E_PROVIDER */
int log_error(const char *what, int error);

/*
 * ends a call as log_end() does, but discards its messages: for a failure that is an answer, or that librpma did not
 * report
 */
void log_discard(void);

#endif
