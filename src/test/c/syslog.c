/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * syslog.c -- replaces the C library's functions that write to syslog: a call aborts the process
 */
#include <stdarg.h>
#include <stdlib.h>

void syslog(int priority, const char *format, ...)
{
	(void)priority;
	(void)format;
	abort();
}

void __syslog_chk(int priority, int flag, const char *format, ...)
{
	(void)priority;
	(void)flag;
	(void)format;
	abort();
}

void vsyslog(int priority, const char *format, va_list arguments)
{
	(void)priority;
	(void)format;
	(void)arguments;
	abort();
}

void __vsyslog_chk(int priority, int flag, const char *format, va_list arguments)
{
	(void)priority;
	(void)flag;
	(void)format;
	(void)arguments;
	abort();
}
