/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_ah.c -- RdmaAh: the destination of a datagram
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"

_Static_assert(sizeof(struct ibv_grh) == 40, "size of ibv_grh");

static jlong adopt(struct ibv_ah *ah)
{
	if (ah == NULL)
		return rdmacm_failed();
	jlong handle = handle_new(ah, -1);
	if (handle > 0)
		return handle;
	(void)ibv_destroy_ah(ah);
	return rdmacm_no_memory();
}

/* from the attributes of an event */
static jlong ah_create(JNI_PARAMS, jlong id_handle, jbyteArray attributes)
{
	struct ibv_ah_attr attr;
	(*env)->GetByteArrayRegion(env, attributes, 0, (jsize)sizeof(attr), (jbyte *)&attr);
	const struct rdmacm_id *self = handle_hold(id_handle);
	if (self == NULL)
		return RESULT_CLOSED;
	struct ibv_pd *pd = rdmacm_pd(self->id);
	jlong result = pd == NULL ? RESULT_NO_DEVICE : adopt(ibv_create_ah(pd, &attr));
	handle_release(id_handle);
	return result;
}

/* through the kernel, because a direct access would end the process if the region's file was truncated */
static int read_header(const struct ibv_mr *mr, jlong offset, struct ibv_grh *header)
{
	const struct iovec from = { rdmacm_address(mr, offset), sizeof(*header) };
	const struct iovec to = { header, sizeof(*header) };
	ssize_t taken = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	if (taken >= 0 && taken != (ssize_t)sizeof(*header))
		errno = EFAULT;
	return taken == (ssize_t)sizeof(*header) ? 0 : -1;
}

static jlong from_completion(const struct rdma_cm_id *id, struct ibv_wc *completion, const struct ibv_mr *mr,
			     jlong offset)
{
	struct ibv_grh header;
	struct ibv_pd *pd = rdmacm_pd(id);
	if (pd == NULL)
		return RESULT_NO_DEVICE;
	if (read_header(mr, offset, &header) != 0)
		return rdmacm_failed();
	errno = 0; /* an invalid header sets no errno */
	return adopt(ibv_create_ah_from_wc(pd, completion, &header, id->port_num));
}

/* for the sender of a received datagram, whose header is in the region */
static jlong ah_from_completion(JNI_PARAMS, jlong id_handle, jlong completion, jlong mr_handle, jlong offset)
{
	const struct rdmacm_id *self = handle_hold(id_handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jlong result = RESULT_CLOSED;
	const struct ibv_mr *mr = handle_hold(mr_handle);
	if (mr != NULL) {
		result = from_completion(self->id, jni_pointer(completion), mr, offset);
		handle_release(mr_handle);
	}
	handle_release(id_handle);
	return result;
}

static jint ah_destroy(JNI_PARAMS, jlong handle)
{
	struct ibv_ah *ah = handle_take(handle);
	if (ah == NULL)
		return RESULT_CLOSED;
	int error = ibv_destroy_ah(ah);
	return error == 0 ? 0 : RESULT_ERRNO - error;
}

static const JNINativeMethod methods[] = {
	{ "ahCreate", "(J[B)J", ah_create },
	{ "ahFromCompletion", "(JJJJ)J", ah_from_completion },
	{ "ahDestroy", "(J)I", ah_destroy },
};

const struct jni_table rdmacm_ah_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
