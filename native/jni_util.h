/*
 * jni_util.h -- what all the files of natives use
 */
#ifndef RPMA_JAVA_JNI_UTIL_H
#define RPMA_JAVA_JNI_UTIL_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

/* the first two parameters of every native, which few use: the thread's environment and the class of Java's natives */
#define JNI_PARAMS JNIEnv *env __attribute__((unused)), jclass natives __attribute__((unused))

/* the natives of one file; onload.c registers them all with io.rpma.internal.Natives */
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
