/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membarrier.c -- prints a line for each membarrier(2) of the closes of this process
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char LINE[] = "membarrier\n";

long syscall(long number, ...)
{
	long a[6];
	va_list arguments;
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	/* the command is an int: the upper half of its argument is undefined */
	if (number == SYS_membarrier && (int)a[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED &&
	    write(STDOUT_FILENO, LINE, sizeof(LINE) - 1) < 0)
		abort();
	long (*next)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
