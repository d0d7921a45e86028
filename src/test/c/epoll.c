/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoll.c -- counts the calls of epoll_ctl(2) in the process that loads it, and the failures; prints both at the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>

static atomic_int calls;
static atomic_int failures;

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	int (*next)(int, int, int, struct epoll_event *) = dlsym(RTLD_NEXT, "epoll_ctl");
	int result = next(epoll, operation, fd, event);
	calls++;
	failures += result != 0;
	return result;
}

__attribute__((destructor)) static void say(void)
{
	printf("epoll_ctl: %d calls, %d failed\n", calls, failures);
	fflush(stdout);
}
