/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interposer.h -- the calls of librpma and of the shim to libibverbs, librdmacm and the allocator, which a test counts
 * and makes fail
 *
 * The calls are redirected in the tables by which librpma and the shim call other libraries, so that calls of
 * librdmacm, of libibverbs and of the JVM are not affected, on a device and on the stand-in alike. The operations of an
 * open device, which libibverbs calls by pointers in the context, are redirected in the context.
 */
#ifndef INTERPOSER_H
#define INTERPOSER_H

#include <stdbool.h>

/*
 * All parameters of the redirected functions are integers and pointers, at most six: the caller puts them into
 * registers.
 */
typedef long function(long a, long b, long c, long d, long e, long f);

/* How a function reports a failure. */
enum failure {
	ERRNO,	      /* returns -1 and sets errno */
	ERRNO_AFTER,  /* the same; frees or acknowledges its object nevertheless */
	NULL_ERRNO,   /* returns NULL and sets errno */
	NUMBER,	      /* returns the errno */
	NUMBER_AFTER, /* the same; frees its object nevertheless */
	NEGATIVE,     /* returns the errno as a negative number */
	BAD_REQUEST,  /* returns the errno, and the first work request of the list by the third parameter */
	NOTHING,      /* cannot fail */
	UNCOUNTED,    /* the same; only the object is counted */
};

/* What a function makes or frees. */
enum object {
	NO_OBJECT,
	ADDRESS,
	AH,
	CHANNEL,
	CQ,
	EVENT_CHANNEL,
	ID,
	MAPPING,
	MEMORY,
	MR,
	PD,
	QP,
	SRQ,
	OBJECTS,
};

/* The largest number of a thread that is counted. */
enum { MOST_THREADS = 3 };

/* A function that a library calls. */
struct call {
	/* "librpma", "shim" or "device" */
	const char *caller;
	const char *name;
	enum failure failure;
	/* the object, and 1 if the call makes it, -1 if the call frees it */
	enum object object;
	int change;
	function *replacement;
	function *real;
	/* by the number of the thread */
	int counts[MOST_THREADS];
};

/* count.c */

long intercept(struct call *call, long a, long b, long c, long d, long e, long f);

/* tables.c: redirects the calls of the libraries that are loaded, and of the devices that are open. */
void redirect(void);
/* NULL if there is no such function. */
struct call *call_named(const char *caller, const char *name);
void reset_counts(void);

/* Ends the process with a message: the test asks for something impossible. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

#endif
