/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_qp.c -- RdmaQp: the queue pair of an id, and the posts on it
 *
 * Each queue has its own handle, whose object is the id. The handle is open only while the queue exists.
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"
#include "rdmacm_post.h"
#include "thread.h"

/* in: the requested values; out: the granted values */
enum qp_numbers {
	MAX_SEND_WR,
	MAX_RECV_WR,
	MAX_SEND_SGE,
	MAX_RECV_SGE,
	MAX_INLINE_DATA,
	MAX_READ_SGE,
	QP_NUM,
	QP_NUMBERS
};

enum queues { SEND_QUEUE, RECV_QUEUE, QUEUES };

static jint least(jint one, jint other)
{
	return one < other ? one : other;
}

/* soft-iWARP reads into the first part only, and reports a success, if a read has more parts than this limit */
static jint read_sges(const struct ibv_device_attr *device, const struct ibv_qp_init_attr *granted)
{
	jint sges = (jint)granted->cap.max_send_sge;
	return device->max_sge_rd > 0 ? least(sges, device->max_sge_rd) : sges;
}

static jint create(struct rdma_cm_id *id, jint numbers[QP_NUMBERS], bool sig_all, struct ibv_srq *srq)
{
	struct ibv_device_attr device;
	int error = ibv_query_device(id->verbs, &device);
	if (error != 0)
		return RESULT_ERRNO - error;
	struct ibv_qp_init_attr attr = {
		.qp_type = id->qp_type,
		.sq_sig_all = sig_all,
		.srq = srq,
		.cap = {
			.max_send_wr = (uint32_t)numbers[MAX_SEND_WR],
			.max_recv_wr = (uint32_t)numbers[MAX_RECV_WR],
			.max_send_sge = (uint32_t)numbers[MAX_SEND_SGE],
			.max_recv_sge = (uint32_t)numbers[MAX_RECV_SGE],
			.max_inline_data = (uint32_t)numbers[MAX_INLINE_DATA],
		},
	};
	if (rdma_create_qp(id, NULL, &attr) != 0)
		return rdmacm_failed();
	/* the completion queues are made for the requested lengths; the granted queues can be longer */
	numbers[MAX_SEND_WR] = least((jint)attr.cap.max_send_wr, id->send_cq->cqe);
	numbers[MAX_RECV_WR] = least((jint)attr.cap.max_recv_wr, id->recv_cq->cqe);
	numbers[MAX_SEND_SGE] = (jint)attr.cap.max_send_sge;
	numbers[MAX_RECV_SGE] = (jint)attr.cap.max_recv_sge;
	numbers[MAX_INLINE_DATA] = (jint)attr.cap.max_inline_data;
	numbers[MAX_READ_SGE] = read_sges(&device, &attr);
	numbers[QP_NUM] = (jint)id->qp->qp_num;
	return 0;
}

/* makes the channel of a completion queue non-blocking, and returns a handle of the queue */
static jlong adopt_queue(struct rdma_cm_id *id, const struct ibv_comp_channel *channel)
{
	if (jni_nonblocking(channel->fd) != 0)
		return rdmacm_failed();
	jlong handle = handle_new(id, channel->fd);
	return handle > 0 ? handle : rdmacm_no_memory();
}

static jint adopt(struct rdma_cm_id *id, jlong queues[QUEUES])
{
	for (int i = 0; i < QUEUES; i++) {
		queues[i] = adopt_queue(id, i == SEND_QUEUE ? id->send_cq_channel : id->recv_cq_channel);
		if (queues[i] < 0) {
			jint result = (jint)queues[i];
			handle_drop(queues, i);
			rdma_destroy_qp(id);
			return result;
		}
	}
	return 0;
}

/* the object of srq_handle is the id that owns the shared receive queue; the handle can be 0 */
static jint create_with(struct rdma_cm_id *id, jint numbers[QP_NUMBERS], bool sig_all, jlong srq_handle)
{
	if (id->verbs == NULL)
		return RESULT_NO_DEVICE;
	if (srq_handle == 0)
		return create(id, numbers, sig_all, NULL);
	const struct rdma_cm_id *owner = handle_hold(srq_handle);
	if (owner == NULL)
		return RESULT_CLOSED;
	jint result = RESULT_ERRNO - EXDEV;
	if (owner->verbs == id->verbs)
		result = create(id, numbers, sig_all, owner->srq);
	handle_release(srq_handle);
	return result;
}

/* called once for an id, which is not closed meanwhile */
static jint qp_create(JNI_PARAMS, jlong id_handle, jintArray numbers_array, jboolean sig_all, jlong srq_handle,
		      jlongArray queues_array)
{
	jint numbers[QP_NUMBERS];
	(*env)->GetIntArrayRegion(env, numbers_array, 0, QP_NUMBERS, numbers);
	const struct rdmacm_id *self = handle_hold(id_handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jlong queues[QUEUES] = { 0 };
	jint result = create_with(self->id, numbers, sig_all, srq_handle);
	if (result == 0)
		result = adopt(self->id, queues);
	if (result == 0)
		handle_join(id_handle, queues, QUEUES);
	handle_release(id_handle);
	if (result == 0) {
		(*env)->SetIntArrayRegion(env, numbers_array, 0, QP_NUMBERS, numbers);
		(*env)->SetLongArrayRegion(env, queues_array, 0, QUEUES, queues);
	}
	return result;
}

static inline jint post(const struct rdma_cm_id *id, struct ibv_send_wr *wr, struct ibv_sge *sges, int count)
{
	struct ibv_send_wr *bad = NULL;
	wr->next = NULL;
	wr->sg_list = sges;
	wr->num_sge = count;
	int error = ibv_post_send(id->qp, wr, &bad);
	if (__builtin_expect(error == 0, 1))
		return RESULT_POSTED;
	errno = error;
	return rdmacm_post_failed();
}

/* sets the operation, its flags and its immediate data, which RdmaQp packs into one number; the caller sets the rest */
static inline void set_what(struct ibv_send_wr *wr, jlong what, jlong context)
{
	rdmacm_set_message(wr, (enum ibv_wr_opcode)(what & 0xff), (jint)(what >> 8 & 0xffffff), (jint)(what >> 32),
			   context);
}

/* an operation on bytes of a region */
static inline jint post_bytes(jlong queue, jlong mr_handle, jlong offset, jlong length, struct ibv_send_wr *wr)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return rdmacm_no_memory();
	jint result = RESULT_CLOSED;
	const struct rdma_cm_id *id = rdmacm_sender(queue, &result);
	struct ibv_sge sge;
	if (id != NULL && rdmacm_set_region(&sge, mr_handle, offset, length) == RESULT_POSTED)
		result = post(id, wr, &sge, 1);
	thread_unmark(thread);
	return result;
}

static jint post_region(JNI_PARAMS, jlong queue, jlong what, jlong mr, jlong offset, jlong length, jlong remote_addr,
			jint rkey, jlong context)
{
	struct ibv_send_wr wr;
	set_what(&wr, what, context);
	rdmacm_set_remote(&wr, remote_addr, rkey);
	return post_bytes(queue, mr, offset, length, &wr);
}

/* the bytes are copied before this returns, so they need no region */
static jint post_inline(JNI_PARAMS, jlong queue, jlong what, jlong address, jint length, jlong remote_addr, jint rkey,
			jlong context)
{
	struct ibv_send_wr wr;
	set_what(&wr, what, context);
	rdmacm_set_remote(&wr, remote_addr, rkey);
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return rdmacm_no_memory();
	jint result = RESULT_CLOSED;
	const struct rdma_cm_id *id = rdmacm_sender(queue, &result);
	if (id != NULL) {
		struct ibv_sge sge;
		rdmacm_set_inline(&wr, &sge, address, length);
		result = post(id, &wr, &sge, 1);
	}
	thread_unmark(thread);
	return result;
}

static jint post_parts(JNI_PARAMS, jlong queue, jlong what, jlong parts, jint count, jlong remote_addr, jint rkey,
		       jlong context)
{
	struct ibv_send_wr wr;
	set_what(&wr, what, context);
	rdmacm_set_remote(&wr, remote_addr, rkey);
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return rdmacm_no_memory();
	jint result = RESULT_CLOSED;
	const struct rdma_cm_id *id = rdmacm_sender(queue, &result);
	struct ibv_sge sges[RDMACM_MAX_SGE];
	int used = id == NULL ? RESULT_CLOSED : rdmacm_sges(parts, count, sges);
	if (used >= 0)
		result = post(id, &wr, sges, used);
	thread_unmark(thread);
	return result;
}

static jint post_atomic(JNI_PARAMS, jlong queue, jlong what, jlong mr, jlong offset, jlong remote_addr, jint rkey,
			jlong compare_add, jlong swap, jlong context)
{
	struct ibv_send_wr wr;
	set_what(&wr, what, context);
	rdmacm_set_atomic(&wr, remote_addr, rkey, compare_add, swap);
	return post_bytes(queue, mr, offset, sizeof(uint64_t), &wr);
}

/* sets the bytes of a datagram: of a region, or inline data, whose address is in offset */
static inline jint set_datagram(struct ibv_send_wr *wr, struct ibv_sge *sge, jlong mr, jlong offset, jlong length)
{
	if ((wr->send_flags & IBV_SEND_INLINE) == 0)
		return rdmacm_set_region(sge, mr, offset, length);
	rdmacm_set_inline(wr, sge, offset, (jint)length);
	return RESULT_POSTED;
}

static jint post_datagram(JNI_PARAMS, jlong queue, jlong what, jlong mr, jlong offset, jlong length, jlong ah,
			  jint remote_qpn, jint remote_qkey, jlong context)
{
	struct ibv_send_wr wr;
	set_what(&wr, what, context);
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return rdmacm_no_memory();
	jint result = RESULT_CLOSED;
	const struct rdma_cm_id *id = rdmacm_sender(queue, &result);
	if (id != NULL) {
		struct ibv_sge sge;
		result = set_datagram(&wr, &sge, mr, offset, length);
		if (result == RESULT_POSTED)
			result = rdmacm_set_destination(&wr, id->verbs, ah, remote_qpn, remote_qkey);
		if (result == RESULT_POSTED)
			result = post(id, &wr, &sge, 1);
	}
	thread_unmark(thread);
	return result;
}

/*
 * for a shared receive queue, the object is the id that owns the queue, and librdmacm posts to the shared queue of the
 * id
 */
static jint post_recv(JNI_PARAMS, jlong queue, jlong mr_handle, jlong offset, jlong length, jlong context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return rdmacm_no_memory();
	struct rdma_cm_id *id = handle_marked(queue);
	struct ibv_mr *mr = handle_marked(mr_handle);
	jint result = RESULT_CLOSED;
	if (id != NULL && mr != NULL)
		result = rdmacm_posted(
			rdma_post_recv(id, rdmacm_context(context), rdmacm_address(mr, offset), (size_t)length, mr));
	thread_unmark(thread);
	return result;
}

static jint post_recvv(JNI_PARAMS, jlong queue, jlong parts, jint count, jlong context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return rdmacm_no_memory();
	struct rdma_cm_id *id = handle_marked(queue);
	struct ibv_sge sges[RDMACM_MAX_SGE];
	jint result = RESULT_CLOSED;
	int used = id == NULL ? RESULT_CLOSED : rdmacm_sges(parts, count, sges);
	if (used >= 0)
		result = rdmacm_posted(rdma_post_recvv(id, rdmacm_context(context), sges, used));
	thread_unmark(thread);
	return result;
}

static const JNINativeMethod methods[] = {
	{ "qpCreate", "(J[IZJ[J)I", qp_create },       { "postRegion", "(JJJJJJIJ)I", post_region },
	{ "postInline", "(JJJIJIJ)I", post_inline },   { "postParts", "(JJJIJIJ)I", post_parts },
	{ "postAtomic", "(JJJJJIJJJ)I", post_atomic }, { "postDatagram", "(JJJJJJIIJ)I", post_datagram },
	{ "postRecv", "(JJJJJ)I", post_recv },	       { "postRecvv", "(JJIJ)I", post_recvv },
};

const struct jni_table rdmacm_qp_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
