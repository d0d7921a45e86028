/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr_local.c -- RpmaMrLocal: memory registered with a peer
 */
#include <errno.h>
#include <librpma.h>

#include "call.h"
#include "device.h"
#include "handle.h"
#include "log.h"
#include "natives.h"

/* librpma's descriptors have 21 bytes; a descriptor that exceeds this maximum is refused */
#define DESCRIPTOR_MAX 64

/*
 * Registers memory. If the device is given and is soft-RoCE, refuses on-demand paging, with which soft-RoCE copies
 * bytes to a wrong place. librpma requests on-demand paging after the kernel has refused to pin the memory with
 * EOPNOTSUPP. librpma does not report this, but a registration that succeeds leaves the errno of the refusal.
 */
static int reg(struct rpma_peer *peer, struct ibv_context *device, void *address, size_t size, int usage,
	       struct rpma_mr_local **mr)
{
	errno = 0;
	int rc = rpma_mr_reg(peer, address, size, usage, mr);
	if (rc != 0 || errno != EOPNOTSUPP || device == NULL)
		return rc;
	rc = device_is_soft_roce(device);
	if (rc != 0)
		(void)rpma_mr_dereg(mr);
	return rc == 1 ? RESULT_MISPLACES : rc;
}

static jlong mr_reg(JNI_PARAMS, jlong peer_handle, jlong device, jlong address, jlong size, jint usage)
{
	struct rpma_peer *peer = call_begin(peer_handle);
	if (peer == NULL)
		return RESULT_CLOSED;
	struct rpma_mr_local *mr = NULL;
	int rc = call_end(peer_handle, reg(peer, jni_pointer(device), jni_pointer(address), (size_t)size, usage, &mr));
	if (rc != 0)
		return rc;
	jlong handle = handle_new(mr, -1);
	if (handle < 0)
		(void)rpma_mr_dereg(&mr);
	return handle;
}

static jint mr_dereg(JNI_PARAMS, jlong handle)
{
	struct rpma_mr_local *mr = call_begin_last(handle);
	return mr == NULL ? RESULT_CLOSED : log_end(rpma_mr_dereg(&mr));
}

static jlong mr_get_ptr(JNI_PARAMS, jlong handle)
{
	const struct rpma_mr_local *mr = call_begin(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	void *address = NULL;
	int rc = call_end(handle, rpma_mr_get_ptr(mr, &address));
	return rc != 0 ? rc : (jlong)(intptr_t)address;
}

static jlong mr_get_size(JNI_PARAMS, jlong handle)
{
	const struct rpma_mr_local *mr = call_begin(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	size_t size = 0;
	int rc = call_end(handle, rpma_mr_get_size(mr, &size));
	return rc != 0 ? rc : (jlong)size;
}

static jint mr_get_descriptor_size(JNI_PARAMS, jlong handle)
{
	const struct rpma_mr_local *mr = call_begin(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	size_t size = 0;
	int rc = call_end(handle, rpma_mr_get_descriptor_size(mr, &size));
	return rc != 0 ? rc : (jint)size;
}

static int read_descriptor(const struct rpma_mr_local *mr, jbyte descriptor[DESCRIPTOR_MAX], size_t *size)
{
	int rc = rpma_mr_get_descriptor_size(mr, size);
	if (rc != 0)
		return rc;
	return *size > DESCRIPTOR_MAX ? RPMA_E_NOSUPP : rpma_mr_get_descriptor(mr, descriptor);
}

/* the array has the size that mrGetDescriptorSize returned */
static jint mr_get_descriptor(JNI_PARAMS, jlong handle, jbyteArray descriptor)
{
	const struct rpma_mr_local *mr = call_begin(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	jbyte bytes[DESCRIPTOR_MAX];
	size_t size = 0;
	int rc = call_end(handle, read_descriptor(mr, bytes, &size));
	if (rc == 0)
		(*env)->SetByteArrayRegion(env, descriptor, 0, (jsize)size, bytes);
	return rc;
}

static jint mr_advise(JNI_PARAMS, jlong handle, jlong offset, jlong length, jint advice, jint flags)
{
	struct rpma_mr_local *mr = call_begin(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	return call_end(handle, rpma_mr_advise(mr, (size_t)offset, (size_t)length, advice, (uint32_t)flags));
}

static const JNINativeMethod methods[] = {
	{ "mrReg", "(JJJJI)J", mr_reg },
	{ "mrDereg", "(J)I", mr_dereg },
	{ "mrGetPtr", "(J)J", mr_get_ptr },
	{ "mrGetSize", "(J)J", mr_get_size },
	{ "mrGetDescriptorSize", "(J)I", mr_get_descriptor_size },
	{ "mrGetDescriptor", "(J[B)I", mr_get_descriptor },
	{ "mrAdvise", "(JJJII)I", mr_advise },
};

const struct jni_table mr_local_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
