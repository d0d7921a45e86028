/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr_remote.c -- RpmaMrRemote: a memory region of another peer
 */
#include <librpma.h>

#include "call.h"
#include "handle.h"
#include "log.h"
#include "natives.h"

#define DESCRIPTOR_MAX 256

static jlong mr_remote_from_descriptor(JNI_PARAMS, jbyteArray descriptor)
{
	jbyte bytes[DESCRIPTOR_MAX];
	jsize length = (*env)->GetArrayLength(env, descriptor);
	if (length > DESCRIPTOR_MAX)
		return RPMA_E_INVAL;
	(*env)->GetByteArrayRegion(env, descriptor, 0, length, bytes);
	struct rpma_mr_remote *mr = NULL;
	log_begin();
	int rc = log_end(rpma_mr_remote_from_descriptor(bytes, (size_t)length, &mr));
	if (rc != 0)
		return rc;
	jlong handle = handle_new(mr, -1);
	if (handle < 0)
		(void)rpma_mr_remote_delete(&mr);
	return handle;
}

static jint mr_remote_delete(JNI_PARAMS, jlong handle)
{
	struct rpma_mr_remote *mr = call_begin_last(handle);
	return mr == NULL ? RESULT_CLOSED : log_end(rpma_mr_remote_delete(&mr));
}

static jlong mr_remote_get_size(JNI_PARAMS, jlong handle)
{
	const struct rpma_mr_remote *mr = call_begin(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	size_t size = 0;
	int rc = call_end(handle, rpma_mr_remote_get_size(mr, &size));
	return rc != 0 ? rc : (jlong)size;
}

/* the usage bits of the flush types that the region supports */
static jint mr_remote_get_flush_type(JNI_PARAMS, jlong handle)
{
	const struct rpma_mr_remote *mr = call_begin(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	int usage = 0;
	int rc = call_end(handle, rpma_mr_remote_get_flush_type(mr, &usage));
	return rc != 0 ? rc : usage;
}

static const JNINativeMethod methods[] = {
	{ "mrRemoteFromDescriptor", "([B)J", mr_remote_from_descriptor },
	{ "mrRemoteDelete", "(J)I", mr_remote_delete },
	{ "mrRemoteGetSize", "(J)J", mr_remote_get_size },
	{ "mrRemoteGetFlushType", "(J)I", mr_remote_get_flush_type },
};

const struct jni_table mr_remote_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
