/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jni.c -- the natives of io.rpma.testing.StandIn
 */
#include <jni.h>

#include "standin.h"

JNIEXPORT void JNICALL Java_io_rpma_testing_StandIn_addFault(JNIEnv *env, jclass natives, jstring call, jint times,
							     jint error, jboolean gate)
{
	(void)natives;
	const char *name = (*env)->GetStringUTFChars(env, call, NULL);
	if (name == NULL)
		return;
	standin_fault(name, times, error, gate);
	(*env)->ReleaseStringUTFChars(env, call, name);
}

JNIEXPORT void JNICALL Java_io_rpma_testing_StandIn_setLimit(JNIEnv *env, jclass natives, jstring limit, jint most)
{
	(void)natives;
	const char *name = (*env)->GetStringUTFChars(env, limit, NULL);
	if (name == NULL)
		return;
	standin_limit(name, most);
	(*env)->ReleaseStringUTFChars(env, limit, name);
}

JNIEXPORT void JNICALL Java_io_rpma_testing_StandIn_setNodeGuid(JNIEnv *env, jclass natives, jlong guid)
{
	(void)env;
	(void)natives;
	node_guid = (uint64_t)guid;
}

JNIEXPORT void JNICALL Java_io_rpma_testing_StandIn_clearFaults(JNIEnv *env, jclass natives)
{
	(void)env;
	(void)natives;
	standin_clear_faults();
}

JNIEXPORT jboolean JNICALL Java_io_rpma_testing_StandIn_atGate(JNIEnv *env, jclass natives, jint calls)
{
	(void)env;
	(void)natives;
	return standin_await_gate(calls);
}

JNIEXPORT jstring JNICALL Java_io_rpma_testing_StandIn_alive(JNIEnv *env, jclass natives)
{
	(void)natives;
	return (*env)->NewStringUTF(env, standin_alive());
}

JNIEXPORT void JNICALL Java_io_rpma_testing_StandIn_deviceEvent(JNIEnv *env, jclass natives, jint type, jint port)
{
	(void)env;
	(void)natives;
	standin_device_event(type, port);
}

JNIEXPORT void JNICALL Java_io_rpma_testing_StandIn_notifyListeners(JNIEnv *env, jclass natives, jint event)
{
	(void)env;
	(void)natives;
	cm_notify_listeners((uint32_t)event);
}
