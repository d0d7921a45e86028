/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jni_util.c -- common code of all files of natives
 */
#include "jni_util.h"

#include <fcntl.h>
#include <librpma.h>

jbyteArray jni_bytes(JNIEnv *env, const void *bytes, jsize length)
{
	jbyteArray array = (*env)->NewByteArray(env, length);
	if (array != NULL)
		(*env)->SetByteArrayRegion(env, array, 0, length, bytes);
	return array;
}

int jni_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return RPMA_E_PROVIDER;
	return 0;
}
