/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_mr.c -- RdmaMr: memory registered with the device of an id
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"

/* rdma_reg_msgs(), rdma_reg_read() and rdma_reg_write() do the same, each with a fixed access */
static jlong mr_reg(JNI_PARAMS, jlong id_handle, jlong address, jlong size, jint access)
{
	const struct rdmacm_id *self = handle_hold(id_handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jlong result = RESULT_NO_DEVICE;
	struct ibv_mr *mr = NULL;
	struct ibv_pd *pd = rdmacm_pd(self->id);
	if (pd != NULL) {
		mr = ibv_reg_mr(pd, jni_pointer(address), (size_t)size, access);
		result = mr != NULL ? handle_new(mr, -1) : rdmacm_failed();
	}
	handle_release(id_handle);
	if (mr != NULL && result < 0) {
		(void)rdma_dereg_mr(mr);
		return rdmacm_no_memory();
	}
	return result;
}

static jint mr_dereg(JNI_PARAMS, jlong handle)
{
	struct ibv_mr *mr = handle_take(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	return rdma_dereg_mr(mr) == 0 ? 0 : rdmacm_failed();
}

/* the remote key, 32 unsigned bits */
static jlong mr_rkey(JNI_PARAMS, jlong handle)
{
	const struct ibv_mr *mr = handle_hold(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	jlong rkey = mr->rkey;
	handle_release(handle);
	return rkey;
}

static jlong mr_size(JNI_PARAMS, jlong handle)
{
	const struct ibv_mr *mr = handle_hold(handle);
	if (mr == NULL)
		return RESULT_CLOSED;
	jlong size = (jlong)mr->length;
	handle_release(handle);
	return size;
}

static const JNINativeMethod methods[] = {
	{ "rdmaMrReg", "(JJJI)J", mr_reg },
	{ "rdmaMrDereg", "(J)I", mr_dereg },
	{ "rdmaMrRkey", "(J)J", mr_rkey },
	{ "rdmaMrSize", "(J)J", mr_size },
};

const struct jni_table rdmacm_mr_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
