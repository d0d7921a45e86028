/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slowpage.c -- replaces the C library's process_vm_readv(): this one first waits for a byte from the FIFO that
 * SLOW_PAGE names, as if it waited for a page of a slow file
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count, const struct iovec *remote,
			 unsigned long remote_count, unsigned long flags)
{
	int fifo = open(getenv("SLOW_PAGE"), O_RDONLY);
	char unused;
	if (fifo < 0 || read(fifo, &unused, 1) != 1)
		abort();
	close(fifo);
	return syscall(SYS_process_vm_readv, pid, local, local_count, remote, remote_count, flags);
}
