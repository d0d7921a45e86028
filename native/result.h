/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * result.h -- the results of natives, apart from values and librpma's codes
 */
#ifndef RPMA_JAVA_RESULT_H
#define RPMA_JAVA_RESULT_H

/*
 * The constants of Java's class Result have the same values.
 *
 * A negative result is a failure and has the same meaning for each native; librpma's codes start at -100000. Other
 * results are values, such as handles and counts, or answers, whose comments below name their natives.
 */
enum result {
	/* an object of the call is closed */
	RESULT_CLOSED = -1,

	/* the id has no device yet; librdmacm would follow a null pointer */
	RESULT_NO_DEVICE = -2,

	/* idGetRequest() has found an event that is not a request */
	RESULT_OTHER_EVENT = -3,

	/* the waiter was woken */
	RESULT_WOKEN = -4,

	/* mrReg() has refused on-demand paging, with which the device would misplace bytes */
	RESULT_MISPLACES = -5,

	/* an errno is returned as RESULT_ERRNO - errno */
	RESULT_ERRNO = -1000,

	/* await() has timed out; a wait that returns a number of completions returns 0 too */
	RESULT_TIMED_OUT = 0,

	/* the object of await() is ready */
	RESULT_READY = 1,

	/* the operation is posted */
	RESULT_POSTED = 0,

	/* the queue of a post has no room: an answer, not an error */
	RESULT_QUEUE_FULL = 2,

	/*
	 * added to the number of completions of cqAwait() if they are from the second queue; greater than each capacity
	 */
	RESULT_SECOND_QUEUE = 1 << 30,
};

#endif
