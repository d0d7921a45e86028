/*
 * wrap.c -- wraps functions of the real librdmacm and of the C library that tests make fail, although no call inside them can be
 * made to fail
 */
#include "standin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>

/* RTLD_NEXT does not find librdmacm, which is loaded later, as a dependency of other libraries. */
static void *of_librdmacm(const char *name)
{
	void *library = dlopen("librdmacm.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *function = library == NULL ? NULL : dlsym(library, name);
	if (function == NULL)
		die("no %s", name);
	return function;
}

/* Acknowledges the event even if the call must fail: only the result differs. */
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

/* Only calls that set flags can be made to fail. The JDK makes such calls too, for example for channels that do not block. */
int fcntl(int fd, int command, ...)
{
	static int (*real)(int, int, ...);
	if (real == NULL)
		real = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl");
	va_list arguments;
	va_start(arguments, command);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);
	int error = command == F_SETFL ? fault("fcntl") : 0;
	if (error == 0)
		return real(fd, command, argument);
	errno = error;
	return -1;
}
