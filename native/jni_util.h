/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jni_util.h -- common code of all files of natives
 */
#ifndef RPMA_JAVA_JNI_UTIL_H
#define RPMA_JAVA_JNI_UTIL_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

/*
 * the first two parameters of each native, which few natives use: the thread's environment and the class of the natives
 */
#define JNI_PARAMS JNIEnv *env __attribute__((unused)), jclass natives __attribute__((unused))

/* the natives of one file, which onload.c registers with io.rpma.internal.Natives */
struct jni_table {
	const JNINativeMethod *methods;
	size_t count;
};

/* a new byte array, or NULL with a pending OutOfMemoryError */
jbyteArray jni_bytes(JNIEnv *env, const void *bytes, jsize length);

/* makes a descriptor non-blocking; 0 or RPMA_E_PROVIDER with errno set */
int jni_nonblocking(int fd);

static inline void *jni_pointer(jlong address)
{
	return (void *)(uintptr_t)address;
}

#endif
