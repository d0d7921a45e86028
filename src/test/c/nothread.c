/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nothread.c -- makes pthread_create() fail, as at the limit of the system, while the file exists that NO_THREADS names
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	if (access(getenv("NO_THREADS"), F_OK) == 0)
		return EAGAIN;
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT,
											    "pthread_create");
	return next(thread, attributes, start, argument);
}
