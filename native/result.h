/*
 * result.h -- what natives return to Java beside values and librpma's own codes
 */
#ifndef RPMA_JAVA_RESULT_H
#define RPMA_JAVA_RESULT_H

/*
 * The constants of Java's class Result have the same values.
 *
 * A negative result is a failure, and means the same whichever native returns it; librpma's codes start at -100000. Others are
 * values such as handles and counts, or answers of the natives that are named here. The natives of memory.c and wakerNew() do
 * not return any of these but -errno.
 */
enum result {
	/* an object of the call is closed */
	RESULT_CLOSED = -1,

	/* the id has no device yet, which librdmacm would follow a null pointer for */
	RESULT_NO_DEVICE = -2,

	/* idGetRequest() has come upon an event that is no request */
	RESULT_OTHER_EVENT = -3,

	/* a wait was ended by the one who can wake it */
	RESULT_WOKEN = -4,

	/* an errno is returned as this minus it */
	RESULT_ERRNO = -1000,

	/* await() has waited in vain; so have waits that return how many completions were taken */
	RESULT_TIMED_OUT = 0,

	/* await() has something to read */
	RESULT_READY = 1,

	/* a post is made */
	RESULT_POSTED = 0,

	/* the queue of a post has no room: an answer, not an error */
	RESULT_QUEUE_FULL = 2,

	/* added to how many completions cqAwait() has taken if they are the second queue's; above every capacity */
	RESULT_SECOND_QUEUE = 1 << 30,
};

#endif
