/*
 * device.c -- RpmaDevice: the verbs context behind an address
 *
 * librdmacm owns the contexts. It closes one whose device has been removed, unless it is in use: so each is pinned for
 * the life of the process, and handed out as a plain pointer.
 */
#include <errno.h>
#include <librpma.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "natives.h"

/* the context, 0 when the address is on no RDMA device (a wildcard), or librpma's code */
static jlong device_get(JNIEnv *env, jclass natives, jstring address, jboolean remote)
{
	(void)natives;
	const char *text = (*env)->GetStringUTFChars(env, address, NULL);
	if (text == NULL)
		return 0;
	struct ibv_context *context = NULL;
	log_begin();
	int rc = log_end(rpma_utils_get_ibv_context(text, remote ? RPMA_UTIL_IBV_CONTEXT_REMOTE : RPMA_UTIL_IBV_CONTEXT_LOCAL,
			&context));
	(*env)->ReleaseStringUTFChars(env, address, text);
	return rc != 0 ? rc : (jlong)(intptr_t)context;
}

/* 0, or RPMA_E_PROVIDER when the device has been removed meanwhile */
static jint device_pin(JNIEnv *env, jclass natives, jlong device)
{
	(void)env;
	(void)natives;
	log_begin();
	struct ibv_context **contexts = rdma_get_devices(NULL);
	if (contexts == NULL)
		return log_end(log_error("rdma_get_devices()", errno));
	bool found = false;
	for (size_t i = 0; contexts[i] != NULL; i++)
		found = found || contexts[i] == jni_pointer(device);
	/* not by rdma_free_devices(), which would end the use of the devices that is wanted here */
	free(contexts);
	return log_end(found ? 0 : log_error("rdma_get_devices()", ENODEV));
}

static jint device_is_odp_capable(JNIEnv *env, jclass natives, jlong device)
{
	(void)env;
	(void)natives;
	int capable = 0;
	log_begin();
	int rc = log_end(rpma_utils_ibv_context_is_odp_capable(jni_pointer(device), &capable));
	return rc != 0 ? rc : capable;
}

static jbyteArray device_name(JNIEnv *env, jclass natives, jlong device)
{
	(void)natives;
	const char *name = ibv_get_device_name(((struct ibv_context *)jni_pointer(device))->device);
	return jni_bytes(env, name, (jsize)strlen(name));
}

static const JNINativeMethod methods[] = {
	{"deviceGet", "(Ljava/lang/String;Z)J", device_get},
	{"devicePin", "(J)I", device_pin},
	{"deviceIsOdpCapable", "(J)I", device_is_odp_capable},
	{"deviceName", "(J)[B", device_name},
};

const struct jni_table device_natives = {methods, sizeof(methods) / sizeof(methods[0])};
