/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foreign.c -- texts of errors as in a locale like de_DE.ISO-8859-1; two errors have the same text, as in some languages
 */
#define _GNU_SOURCE
#include <netdb.h>
#include <stdio.h>
#include <string.h>

char *strerror_r(int error, char *buffer, size_t size)
{
	snprintf(buffer, size, "H\xe4ufiger Fehler %d", error / 2);
	return buffer;
}

char *strerror(int error)
{
	static _Thread_local char text[64];
	return strerror_r(error, text, sizeof(text));
}

char *dlerror(void)
{
	static char text[] = "H\xe4ufiger Fehler";
	return text;
}

const char *gai_strerror(int code)
{
	return "H\xe4ufiger Name";
}
