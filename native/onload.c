/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * onload.c -- registers each native with Java's class Natives; exports what the JVM calls
 */
#include "guard.h"
#include "log.h"
#include "natives.h"
#include "thread.h"

static jint native_count(JNI_PARAMS);

static const JNINativeMethod methods[] = { { "nativeCount", "()I", native_count } };
static const struct jni_table onload_natives = { methods, sizeof(methods) / sizeof(methods[0]) };

static const struct jni_table *const tables[] = {
	&batch_natives,	    &conn_cfg_natives,	   &conn_natives,	&conn_req_natives,
	&cq_natives,	    &device_natives,	   &ep_natives,		&handle_natives,
	&log_natives,	    &memory_natives,	   &mr_local_natives,	&mr_remote_natives,
	&peer_cfg_natives,  &peer_natives,	   &poller_natives,	&rdmacm_addrinfo_natives,
	&rdmacm_ah_natives, &rdmacm_batch_natives, &rdmacm_cq_natives,	&rdmacm_id_natives,
	&rdmacm_mr_natives, &rdmacm_qp_natives,	   &rdmacm_srq_natives, &srq_cfg_natives,
	&srq_natives,	    &wait_natives,	   &limit_natives,	&versions_natives,
	&onload_natives,
};

static jint native_count(JNI_PARAMS)
{
	size_t count = 0;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		count += tables[i]->count;
	return (jint)count;
}

/*
 * The class Natives, or NULL with a pending exception or without the property. Loader sets the property to its name: a
 * build tool may have moved the classes of the library to another package.
 */
static jclass natives_class(JNIEnv *env)
{
	jclass system = (*env)->FindClass(env, "java/lang/System");
	jmethodID get = system == NULL ? NULL
				       : (*env)->GetStaticMethodID(env, system, "getProperty",
								   "(Ljava/lang/String;)Ljava/lang/String;");
	jstring key = get == NULL ? NULL : (*env)->NewStringUTF(env, "rpma-java.natives");
	if (key == NULL)
		return NULL;
	jstring name = (*env)->CallStaticObjectMethod(env, system, get, key);
	const char *text = (*env)->ExceptionCheck(env) || name == NULL ? NULL
								       : (*env)->GetStringUTFChars(env, name, NULL);
	if (text == NULL)
		return NULL;
	jclass natives = (*env)->FindClass(env, text);
	(*env)->ReleaseStringUTFChars(env, name, text);
	return natives;
}

static int register_natives(JNIEnv *env)
{
	jclass natives = natives_class(env);
	if (natives == NULL)
		return JNI_ERR;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if ((*env)->RegisterNatives(env, natives, tables[i]->methods, (jint)tables[i]->count) != 0)
			return JNI_ERR;
	}
	return 0;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved __attribute__((unused)))
{
	JNIEnv *env;
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK)
		return JNI_ERR;
	if (guard_init() != 0 || thread_init() != 0 || register_natives(env) != 0)
		return JNI_ERR;
	return JNI_VERSION_10;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm __attribute__((unused)), void *reserved __attribute__((unused)))
{
	log_fini();
}
