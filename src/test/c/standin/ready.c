/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ready.c -- descriptors that poll(2) reports as readable while events are pending: each is both ends of a pipe, which
 * holds one byte or none
 */
#include "standin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int ready_open(void)
{
	int ends[2];
	char name[64];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
	int cause = errno;
	close(ends[0]);
	close(ends[1]);
	errno = cause;
	return fd;
}

void ready_set(int fd)
{
	if (syscall(SYS_write, fd, "", 1) != 1)
		die("can't signal descriptor %d", fd);
}

void ready_clear(int fd)
{
	char byte;
	if (syscall(SYS_read, fd, &byte, 1) != 1)
		die("can't clear descriptor %d", fd);
}

int ready_wait(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return errno;
	if (flags & O_NONBLOCK)
		return EAGAIN;
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	/* A read of a device would restart after the JVM's signals; poll(2) does not. */
	while (poll(&readable, 1, -1) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}
