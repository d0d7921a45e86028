/*
 * log.h -- librpma's log messages: the reason of a failure, and the way to Java's logger
 *
 * librpma says why a call failed only in its log. The messages of one call are kept in the calling thread's text
 * and, when the call has ended, go to a ring that Java empties; nothing is called back from here.
 */
#ifndef RPMA_JAVA_LOG_H
#define RPMA_JAVA_LOG_H

#include <stdbool.h>

#include "thread.h"

int log_init(void);
void log_fini(void);

/* brackets every call that is not marked; log_end() passes the call's result through */
void log_begin(void);
int log_end(int rc);

/* the failure of a hot call, whose text thread_mark() has cleared; passes the result through */
int log_failed(struct thread *thread, int rc);

/* whether the messages of the thread's current call have this text */
bool log_says(const struct thread *thread, const char *text);

/* the same for the text of an errno; the only place where a failed post says it */
bool log_says_errno(const struct thread *thread, int error);

/* whether the current call has logged this failure and no other one */
bool log_says_only(const struct thread *thread, const char *what, int error);

/*
 * whether the current call, of this result, found that no event waits; errno alone may be of what librpma did with an event
 * that it has taken, or cleaned up after another failure
 */
bool log_says_no_event(const struct thread *thread, int rc);

/* logs a failure that librpma does not log, as librpma would, and returns RPMA_E_PROVIDER */
int log_error(const char *what, int error);

/* logs that librpma, in a call that has failed, has left something behind for good, and how often it has by now */
void log_leak(const char *what, unsigned count);

/* ends a call as log_end() does, but forgets its messages: for a failure that is an answer and no error */
void log_discard(void);

#endif
