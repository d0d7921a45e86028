/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_srq.c -- RdmaSrq: receives shared by several queue pairs; rdmacm_qp.c posts them
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"

/* in: the requested values; out: the granted values */
enum srq_numbers { MAX_WR, MAX_SGE, SRQ_NUMBERS };

static jlong create(struct rdma_cm_id *id, jint numbers[SRQ_NUMBERS])
{
	if (id->pd == NULL)
		return RESULT_NO_DEVICE;
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = (uint32_t)numbers[MAX_WR], .max_sge = (uint32_t)numbers[MAX_SGE] },
	};
	if (rdma_create_srq(id, NULL, &attr) != 0)
		return rdmacm_failed();
	numbers[MAX_WR] = (jint)attr.attr.max_wr;
	numbers[MAX_SGE] = (jint)attr.attr.max_sge;
	jlong handle = handle_new(id, -1);
	if (handle > 0)
		return handle;
	rdma_destroy_srq(id);
	return rdmacm_no_memory();
}

/* called once for an id, before it has a queue pair; the id is not closed meanwhile */
static jlong srq_create(JNI_PARAMS, jlong id_handle, jintArray numbers_array)
{
	jint numbers[SRQ_NUMBERS];
	(*env)->GetIntArrayRegion(env, numbers_array, 0, SRQ_NUMBERS, numbers);
	const struct rdmacm_id *self = handle_hold(id_handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jlong result = create(self->id, numbers);
	if (result > 0)
		handle_join(id_handle, &result, 1);
	handle_release(id_handle);
	(*env)->SetIntArrayRegion(env, numbers_array, 0, SRQ_NUMBERS, numbers);
	return result;
}

static const JNINativeMethod methods[] = {
	{ "rdmaSrqCreate", "(J[I)J", srq_create },
};

const struct jni_table rdmacm_srq_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
