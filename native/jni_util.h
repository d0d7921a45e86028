/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jni_util.h -- common code of all files of natives
 */
#ifndef RPMA_JAVA_JNI_UTIL_H
#define RPMA_JAVA_JNI_UTIL_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "io_rpma_internal_Result.h"

/*
 * the results of natives, apart from values and librpma's codes: Java's class Result, from whose header they come,
 * describes them
 */
enum result {
	RESULT_CLOSED = io_rpma_internal_Result_CLOSED,
	RESULT_NO_DEVICE = io_rpma_internal_Result_NO_DEVICE,
	RESULT_OTHER_EVENT = io_rpma_internal_Result_OTHER_EVENT,
	RESULT_WOKEN = io_rpma_internal_Result_WOKEN,
	RESULT_MISPLACES = io_rpma_internal_Result_MISPLACES,
	RESULT_ERRNO = io_rpma_internal_Result_ERRNO,
	RESULT_TIMED_OUT = io_rpma_internal_Result_TIMED_OUT,
	RESULT_READY = io_rpma_internal_Result_READY,
	RESULT_POSTED = io_rpma_internal_Result_POSTED,
	RESULT_QUEUE_FULL = io_rpma_internal_Result_QUEUE_FULL,
	RESULT_SECOND_QUEUE = io_rpma_internal_Result_SECOND_QUEUE,
};

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
