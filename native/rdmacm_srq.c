/*
 * rdmacm_srq.c -- RdmaSrq: receives that several queue pairs share
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"
#include "thread.h"

/* in: what is asked for, out: what is granted */
enum srq_numbers { MAX_WR, MAX_SGE, SRQ_NUMBERS };

static jlong create(struct rdma_cm_id *id, jint numbers[SRQ_NUMBERS])
{
	if (id->pd == NULL)
		return RDMACM_NO_DEVICE;
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = (uint32_t)numbers[MAX_WR], .max_sge = (uint32_t)numbers[MAX_SGE]},
	};
	if (rdma_create_srq(id, NULL, &attr) != 0)
		return rdmacm_failed();
	numbers[MAX_WR] = (jint)attr.attr.max_wr;
	numbers[MAX_SGE] = (jint)attr.attr.max_sge;
	jlong handle = handle_new(id, -1);
	if (handle > 0)
		return handle;
	rdma_destroy_srq(id);
	return RDMACM_NOMEM;
}

/* called once for an id, before it has a queue pair */
static jlong srq_create(JNIEnv *env, jclass natives, jlong id_handle, jintArray numbers_array)
{
	(void)natives;
	jint numbers[SRQ_NUMBERS];
	(*env)->GetIntArrayRegion(env, numbers_array, 0, SRQ_NUMBERS, numbers);
	const struct rdmacm_id *self = handle_hold(id_handle);
	if (self == NULL)
		return HANDLE_CLOSED;
	jlong result = create(self->id, numbers);
	handle_release(id_handle);
	(*env)->SetIntArrayRegion(env, numbers_array, 0, SRQ_NUMBERS, numbers);
	return result;
}

static jint srq_post_recv(JNIEnv *env, jclass natives, jlong srq, jlong mr_handle, jlong offset, jlong length, jlong context)
{
	(void)env;
	(void)natives;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RDMACM_NOMEM;
	struct rdma_cm_id *id = handle_marked(srq);
	struct ibv_mr *mr = handle_marked(mr_handle);
	jint result = HANDLE_CLOSED;
	if (id != NULL && mr != NULL)
		result = rdmacm_posted(
				rdma_post_recv(id, rdmacm_context(context), rdmacm_address(mr, offset), (size_t)length, mr));
	thread_unmark(thread);
	return result;
}

static jint srq_post_recvv(JNIEnv *env, jclass natives, jlong srq, jlong parts, jint count, jlong context)
{
	(void)env;
	(void)natives;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RDMACM_NOMEM;
	struct rdma_cm_id *id = handle_marked(srq);
	struct ibv_sge sges[RDMACM_MAX_SGE];
	jint result = HANDLE_CLOSED;
	if (id != NULL && rdmacm_sges(parts, count, sges) == 0)
		result = rdmacm_posted(rdma_post_recvv(id, rdmacm_context(context), sges, count));
	thread_unmark(thread);
	return result;
}

static const JNINativeMethod methods[] = {
	{"srqCreate", "(J[I)J", srq_create},
	{"srqPostRecv", "(JJJJJ)I", srq_post_recv},
	{"srqPostRecvv", "(JJIJ)I", srq_post_recvv},
};

const struct jni_table rdmacm_srq_natives = {methods, sizeof(methods) / sizeof(methods[0])};
