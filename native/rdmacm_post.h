/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_post.h -- the work requests of io.rpma.rdmacm, for single posts and for chains
 *
 * librdmacm's helpers support neither immediate data nor atomics nor chains. Call the functions that look up a handle
 * between thread_mark() and thread_unmark().
 */
#ifndef RPMA_JAVA_RDMACM_POST_H
#define RPMA_JAVA_RDMACM_POST_H

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>

#include "handle.h"
#include "rdmacm.h"

/*
 * Posts without a connection are refused here: soft-RoCE's provider queues the post and then reports the refusal of the
 * kernel. The post stays in the queue, and the kernel would execute it once there is a connection.
 */
static inline bool rdmacm_can_send(const struct ibv_qp *qp)
{
	return qp->state >= IBV_QPS_RTS;
}

/* the id to send on, or NULL and the reason if the queue is closed or has no connection yet */
static inline struct rdma_cm_id *rdmacm_sender(jlong queue, jint *reason)
{
	struct rdma_cm_id *id = handle_marked(queue);
	bool sends = id != NULL && rdmacm_can_send(id->qp);
	if (__builtin_expect(sends, 1))
		return id;
	*reason = id == NULL ? RESULT_CLOSED : RESULT_ERRNO - ENOTCONN;
	return NULL;
}

/*
 * Sets only the fields of the operation, as librdmacm does: no device uses the others, and clearing them costs time.
 * The caller sets the successor.
 */
static inline void rdmacm_set_message(struct ibv_send_wr *wr, enum ibv_wr_opcode opcode, jint flags, jint imm,
				      jlong context)
{
	wr->wr_id = (uint64_t)context;
	wr->opcode = opcode;
	wr->send_flags = (unsigned)flags;
	wr->imm_data = htonl((uint32_t)imm);
}

static inline void rdmacm_set_remote(struct ibv_send_wr *wr, jlong remote_addr, jint rkey)
{
	wr->wr.rdma.remote_addr = (uint64_t)remote_addr;
	wr->wr.rdma.rkey = (uint32_t)rkey;
}

static inline void rdmacm_set_atomic(struct ibv_send_wr *wr, jlong remote_addr, jint rkey, jlong compare_add,
				     jlong swap)
{
	wr->wr.atomic.remote_addr = (uint64_t)remote_addr;
	wr->wr.atomic.rkey = (uint32_t)rkey;
	wr->wr.atomic.compare_add = (uint64_t)compare_add;
	wr->wr.atomic.swap = (uint64_t)swap;
}

/*
 * Sets the destination of a datagram. A provider takes any address handle for its own, and would read beyond the end of
 * another device's address handle: this function refuses such a handle. Returns RESULT_POSTED, RESULT_CLOSED or the
 * errno.
 */
static inline jint rdmacm_set_destination(struct ibv_send_wr *wr, const struct ibv_context *device, jlong ah_handle,
					  jint remote_qpn, jint remote_qkey)
{
	struct ibv_ah *ah = handle_marked(ah_handle);
	if (ah == NULL)
		return RESULT_CLOSED;
	if (ah->context != device)
		return RESULT_ERRNO - EXDEV;
	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = (uint32_t)remote_qpn;
	wr->wr.ud.remote_qkey = (uint32_t)remote_qkey;
	return RESULT_POSTED;
}

static inline void rdmacm_set_bytes(struct ibv_sge *sge, const struct ibv_mr *mr, jlong offset, jlong length)
{
	sge->addr = (uintptr_t)rdmacm_address(mr, offset);
	sge->length = (uint32_t)length;
	sge->lkey = mr->lkey;
}

/* sets the bytes of a region; RESULT_POSTED or RESULT_CLOSED */
static inline jint rdmacm_set_region(struct ibv_sge *sge, jlong mr_handle, jlong offset, jlong length)
{
	const struct ibv_mr *mr = handle_marked(mr_handle);
	if (__builtin_expect(mr == NULL, 0))
		return RESULT_CLOSED;
	rdmacm_set_bytes(sge, mr, offset, length);
	return RESULT_POSTED;
}

static inline void rdmacm_set_inline(struct ibv_send_wr *wr, struct ibv_sge *sge, jlong address, jint length)
{
	wr->send_flags |= IBV_SEND_INLINE;
	sge->addr = (uint64_t)address;
	sge->length = (uint32_t)length;
	sge->lkey = 0;
}

#endif
