/*
 * wrap.c -- functions of the real librdmacm that tests make fail, though nothing below them can
 */
#include "standin.h"

#include <dlfcn.h>
#include <errno.h>
#include <rdma/rdma_cma.h>

/* The library comes later than this one, with those that need it: it is not the next one of RTLD_NEXT. */
static void *of_librdmacm(const char *name)
{
	void *library = dlopen("librdmacm.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *function = library == NULL ? NULL : dlsym(library, name);
	if (function == NULL)
		die("no %s", name);
	return function;
}

/* Acknowledges the event in any case: a failure is what is made of the answer. */
int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	static int (*real)(struct rdma_cm_event *);
	if (real == NULL)
		real = (int (*)(struct rdma_cm_event *))of_librdmacm("rdma_ack_cm_event");
	int error = fault("rdma_ack_cm_event");
	int result = real(event);
	if (error == 0)
		return result;
	errno = error;
	return -1;
}
