/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * othershim.c -- the native library of another release, with one native, whose name is METHOD
 */
#include <jni.h>

static jint count(JNIEnv *env, jclass natives)
{
	(void)env;
	(void)natives;
	return 1;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	(void)reserved;
	JNIEnv *env;
	static const JNINativeMethod method = { METHOD, "()I", count };
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK)
		return JNI_ERR;
	jclass natives = (*env)->FindClass(env, "io/rpma/internal/Natives");
	return natives != NULL && (*env)->RegisterNatives(env, natives, &method, 1) == 0 ? JNI_VERSION_10 : JNI_ERR;
}
