/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp.c -- queue pairs of the stand-in: a work request is carried out by the thread that posts it. If it stalls, it is
 * carried out by the thread that posts the missing receive or makes the other side ready.
 */
#include "standin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WR = 16384, MOST_INLINE = 512, GRH_SIZE = 40, RNR_FOR_EVER = 7 };

struct send_wr {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	__be32 imm;
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add;
	uint64_t swap;
	uint32_t ud_qpn;
	int num_sge;
	struct ibv_sge sges[MOST_SGE];
	uint32_t inline_length;
	uint8_t inline_data[MOST_INLINE];
};

struct qp {
	struct ibv_qp public;
	struct qp *next;
	uint32_t dest;
	uint8_t rnr_retry;
	bool signal_all;
	uint32_t max_inline;
	uint32_t max_send_sge;
	struct send_wr *ring;
	uint32_t size;
	/* the work requests that are not carried out yet */
	uint32_t head;
	uint32_t count;
	/* count plus the places of completed requests: as on most devices, the poll of a completion frees them */
	uint32_t used;
	/* the places that the next completion frees */
	uint32_t silent;
	struct recv_queue queue;
	/* waits for a receive of the other side, or for the other side to be ready */
	bool stalled;
};

enum { BUCKETS = 1024 };
static struct qp *pairs[BUCKETS];
static uint32_t last_number = 16;
static uint32_t stalled_pairs;

static struct qp *find(uint32_t number)
{
	struct qp *qp = pairs[number % BUCKETS];
	while (qp != NULL && qp->public.qp_num != number)
		qp = qp->next;
	return qp;
}

static struct recv_queue *receives_of(struct qp *qp)
{
	return qp->public.srq != NULL ? &((struct srq *)qp->public.srq)->queue : &qp->queue;
}

static void set_stalled(struct qp *qp, bool stalled)
{
	stalled_pairs += (uint32_t)stalled - (uint32_t)qp->stalled;
	qp->stalled = stalled;
}

static void complete_recv(struct qp *qp, const struct recv_wr *wr, struct ibv_wc *wc, bool solicited)
{
	wc->wr_id = wr->wr_id;
	wc->qp_num = qp->public.qp_num;
	cq_push_locked((struct cq *)qp->public.recv_cq, wc, 0, solicited);
}

static void complete_send(struct qp *qp, const struct send_wr *wr, enum ibv_wc_status status, uint32_t length)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[IBV_WR_SEND] = IBV_WC_SEND,
		[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
		[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	};
	qp->silent++;
	if (status == IBV_WC_SUCCESS && !qp->signal_all && (wr->flags & IBV_SEND_SIGNALED) == 0)
		return;
	struct ibv_wc wc = { .wr_id = wr->wr_id,
			     .status = status,
			     .opcode = opcodes[wr->opcode],
			     .byte_len = length,
			     .qp_num = qp->public.qp_num };
	cq_push_locked((struct cq *)qp->public.send_cq, &wc, qp->silent, false);
	qp->silent = 0;
}

/* Enters the error state and completes all posted requests with an error. A shared receive queue keeps its receives. */
static void flush(struct qp *qp)
{
	qp->public.state = IBV_QPS_ERR;
	set_stalled(qp, false);
	for (; qp->count > 0; qp->count--, qp->head = (qp->head + 1) % qp->size)
		complete_send(qp, &qp->ring[qp->head], IBV_WC_WR_FLUSH_ERR, 0);
	for (struct recv_queue *queue = &qp->queue; queue->count > 0; queue->count--) {
		struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV };
		complete_recv(qp, &queue->ring[queue->head], &wc, false);
		queue->head = (queue->head + 1) % queue->size;
	}
}

/* Sums up the lengths of the pieces of memory; false if a piece is not in a region that allows the access. */
static bool check_sges(const struct qp *qp, const struct ibv_sge *sges, int count, int access, uint64_t *length)
{
	*length = 0;
	for (int i = 0; i < count; i++) {
		if (sges[i].length > 0 &&
		    !mr_allows_locked(sges[i].lkey, sges[i].addr, sges[i].length, access, qp->public.pd))
			return false;
		*length += sges[i].length;
	}
	return true;
}

enum direction { GATHER, SCATTER };

/* Copies between pieces of memory and one range, starting at a position in the pieces. */
static void copy(const struct ibv_sge *sges, int count, uint64_t position, uint8_t *range, uint64_t length,
		 enum direction direction)
{
	for (int i = 0; i < count && length > 0; i++) {
		if (position >= sges[i].length) {
			position -= sges[i].length;
			continue;
		}
		uint8_t *piece = (uint8_t *)(uintptr_t)sges[i].addr + position;
		uint64_t part = sges[i].length - position < length ? sges[i].length - position : length;
		if (direction == GATHER)
			memmove(range, piece, part);
		else
			memmove(piece, range, part);
		position = 0;
		range += part;
		length -= part;
	}
}

/*
 * Copies a message from the memory of a send to a position in the memory of a receive: a datagram leaves room for a
 * header.
 */
static void copy_message(const struct send_wr *from, const struct recv_wr *to, uint64_t position)
{
	if (from->flags & IBV_SEND_INLINE) {
		copy(to->sges, to->num_sge, position, (uint8_t *)from->inline_data, from->inline_length, SCATTER);
		return;
	}
	for (int i = 0; i < from->num_sge; i++) {
		copy(to->sges, to->num_sge, position, (uint8_t *)(uintptr_t)from->sges[i].addr, from->sges[i].length,
		     SCATTER);
		position += from->sges[i].length;
	}
}

enum outcome { DONE, STALLED, FAILED };

/* Takes the receive that a message needs, and completes it on the other side. */
static enum outcome consume_recv(struct qp *qp, struct qp *peer, const struct send_wr *wr, uint64_t length,
				 bool carries, enum ibv_wc_status *status)
{
	struct recv_queue *queue = receives_of(peer);
	if (queue->count == 0) {
		*status = IBV_WC_RNR_RETRY_EXC_ERR;
		return qp->rnr_retry == RNR_FOR_EVER ? STALLED : FAILED;
	}
	struct recv_wr recv = queue->ring[queue->head];
	queue->head = (queue->head + 1) % queue->size;
	queue->count--;
	bool imm = wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct ibv_wc wc = {
		.status = IBV_WC_SUCCESS,
		.opcode = carries ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM,
		.byte_len = (uint32_t)length,
		.imm_data = imm ? wr->imm : 0,
		.src_qp = qp->public.qp_num,
		.wc_flags = imm ? IBV_WC_WITH_IMM : 0,
	};
	if (carries) {
		uint64_t room;
		if (!check_sges(peer, recv.sges, recv.num_sge, IBV_ACCESS_LOCAL_WRITE, &room))
			wc.status = IBV_WC_LOC_PROT_ERR;
		else if (length > room)
			wc.status = IBV_WC_LOC_LEN_ERR;
		if (wc.status != IBV_WC_SUCCESS) {
			complete_recv(peer, &recv, &wc, true);
			flush(peer);
			*status = wc.status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
			return FAILED;
		}
		copy_message(wr, &recv, 0);
	}
	complete_recv(peer, &recv, &wc, (wr->flags & IBV_SEND_SOLICITED) != 0);
	return DONE;
}

static enum outcome access_remote(struct qp *qp, struct qp *peer, const struct send_wr *wr, uint64_t length,
				  enum ibv_wc_status *status)
{
	int access = wr->opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
	if (length > 0 && !mr_allows_locked(wr->rkey, wr->remote_addr, length, access, peer->public.pd)) {
		flush(peer);
		*status = IBV_WC_REM_ACCESS_ERR;
		return FAILED;
	}
	if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		enum outcome outcome = consume_recv(qp, peer, wr, length, false, status);
		if (outcome != DONE)
			return outcome;
	}
	uint8_t *remote = (uint8_t *)(uintptr_t)wr->remote_addr;
	if (wr->opcode == IBV_WR_RDMA_READ)
		copy(wr->sges, wr->num_sge, 0, remote, length, SCATTER);
	else if (wr->flags & IBV_SEND_INLINE)
		memcpy(remote, wr->inline_data, length);
	else
		copy(wr->sges, wr->num_sge, 0, remote, length, GATHER);
	return DONE;
}

static bool is_atomic(const struct send_wr *wr)
{
	return wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static enum outcome change_remote(struct qp *peer, const struct send_wr *wr, enum ibv_wc_status *status)
{
	*status = IBV_WC_SUCCESS;
	if (wr->remote_addr % sizeof(uint64_t) != 0)
		*status = IBV_WC_REM_INV_REQ_ERR;
	else if (!mr_allows_locked(wr->rkey, wr->remote_addr, sizeof(uint64_t), IBV_ACCESS_REMOTE_ATOMIC,
				   peer->public.pd))
		*status = IBV_WC_REM_ACCESS_ERR;
	if (*status != IBV_WC_SUCCESS) {
		flush(peer);
		return FAILED;
	}
	uint64_t *remote = (uint64_t *)(uintptr_t)wr->remote_addr;
	uint64_t before = *remote;
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*remote = before + wr->compare_add;
	else if (before == wr->compare_add)
		*remote = wr->swap;
	copy(wr->sges, wr->num_sge, 0, (uint8_t *)&before, sizeof(before), SCATTER);
	return DONE;
}

/* Sends a datagram, which is lost if the destination is not ready or has no receive. */
static void send_datagram(struct qp *qp, const struct send_wr *wr, uint64_t length)
{
	struct qp *peer = find(wr->ud_qpn);
	if (peer == NULL || peer->public.qp_type != IBV_QPT_UD || peer->public.state < IBV_QPS_RTR ||
	    peer->public.state == IBV_QPS_ERR || receives_of(peer)->count == 0)
		return;
	struct recv_queue *queue = receives_of(peer);
	struct recv_wr recv = queue->ring[queue->head];
	queue->head = (queue->head + 1) % queue->size;
	queue->count--;
	bool imm = wr->opcode == IBV_WR_SEND_WITH_IMM;
	struct ibv_wc wc = {
		.status = IBV_WC_SUCCESS,
		.opcode = IBV_WC_RECV,
		.byte_len = (uint32_t)length + GRH_SIZE,
		.imm_data = imm ? wr->imm : 0,
		.src_qp = qp->public.qp_num,
		.wc_flags = (imm ? IBV_WC_WITH_IMM : 0) | IBV_WC_GRH,
	};
	uint64_t room;
	if (!check_sges(peer, recv.sges, recv.num_sge, IBV_ACCESS_LOCAL_WRITE, &room))
		wc.status = IBV_WC_LOC_PROT_ERR;
	else if (length + GRH_SIZE > room)
		wc.status = IBV_WC_LOC_LEN_ERR;
	else
		copy_message(wr, &recv, GRH_SIZE);
	complete_recv(peer, &recv, &wc, (wr->flags & IBV_SEND_SOLICITED) != 0);
}

static enum outcome carry_out(struct qp *qp, const struct send_wr *wr, uint64_t *length, enum ibv_wc_status *status)
{
	int access = wr->opcode == IBV_WR_RDMA_READ || is_atomic(wr) ? IBV_ACCESS_LOCAL_WRITE : 0;
	*length = wr->inline_length;
	if ((wr->flags & IBV_SEND_INLINE) == 0 && !check_sges(qp, wr->sges, wr->num_sge, access, length)) {
		*status = IBV_WC_LOC_PROT_ERR;
		return FAILED;
	}
	if (qp->public.qp_type == IBV_QPT_UD) {
		send_datagram(qp, wr, *length);
		return DONE;
	}
	struct qp *peer = find(qp->dest);
	/* A device would give up after seconds; here, the event of the connection's end arrives before that. */
	if (peer == NULL)
		return STALLED;
	if (peer->public.state != IBV_QPS_RTR && peer->public.state != IBV_QPS_RTS)
		return STALLED;
	if (wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM)
		return consume_recv(qp, peer, wr, *length, true, status);
	return is_atomic(wr) ? change_remote(peer, wr, status) : access_remote(qp, peer, wr, *length, status);
}

static void progress(struct qp *qp)
{
	while (qp->count > 0 && qp->public.state == IBV_QPS_RTS) {
		struct send_wr *wr = &qp->ring[qp->head];
		uint64_t length = 0;
		enum ibv_wc_status status = IBV_WC_SUCCESS;
		enum outcome outcome = carry_out(qp, wr, &length, &status);
		set_stalled(qp, outcome == STALLED);
		if (outcome == STALLED)
			return;
		complete_send(qp, wr, status, (uint32_t)length);
		qp->head = (qp->head + 1) % qp->size;
		qp->count--;
		if (outcome == FAILED)
			flush(qp);
	}
}

void qp_retire_locked(uint32_t qp_num, uint32_t slots)
{
	struct qp *qp = find(qp_num);
	if (qp != NULL)
		qp->used -= slots;
}

void qp_progress_stalled_locked(void)
{
	for (int i = 0; stalled_pairs > 0 && i < BUCKETS; i++)
		for (struct qp *qp = pairs[i]; qp != NULL; qp = qp->next)
			if (qp->stalled)
				progress(qp);
}

static int copy_send_wr(const struct qp *qp, struct send_wr *to, const struct ibv_send_wr *from)
{
	if (from->num_sge < 0 || (uint32_t)from->num_sge > qp->max_send_sge)
		return EINVAL;
	to->wr_id = from->wr_id;
	to->opcode = from->opcode;
	to->flags = from->send_flags;
	to->imm = from->imm_data;
	to->remote_addr = from->wr.rdma.remote_addr;
	to->rkey = from->wr.rdma.rkey;
	if (is_atomic(to)) {
		to->remote_addr = from->wr.atomic.remote_addr;
		to->rkey = from->wr.atomic.rkey;
		to->compare_add = from->wr.atomic.compare_add;
		to->swap = from->wr.atomic.swap;
	}
	if (qp->public.qp_type == IBV_QPT_UD) {
		object_check(from->wr.ud.ah, AH, "ibv_post_send");
		to->ud_qpn = from->wr.ud.remote_qpn;
	}
	to->num_sge = from->num_sge;
	if (from->num_sge > 0)
		memcpy(to->sges, from->sg_list, (size_t)from->num_sge * sizeof(*from->sg_list));
	to->inline_length = 0;
	if (from->send_flags & IBV_SEND_INLINE) {
		for (int i = 0; i < from->num_sge; i++) {
			if (from->sg_list[i].length > qp->max_inline - to->inline_length)
				return EINVAL;
			memcpy(to->inline_data + to->inline_length, (void *)(uintptr_t)from->sg_list[i].addr,
			       from->sg_list[i].length);
			to->inline_length += from->sg_list[i].length;
		}
	}
	return 0;
}

int qp_post_send(struct ibv_qp *public, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int error = fault("ibv_post_send");
	struct qp *qp = object_lock(public, QP, "ibv_post_send");
	while (error == 0 && wr != NULL) {
		if (public->state < IBV_QPS_RTS)
			error = EINVAL;
		else if (qp->used == qp->size)
			error = ENOMEM;
		else
			error = copy_send_wr(qp, &qp->ring[(qp->head + qp->count) % qp->size], wr);
		if (error == 0) {
			qp->count++;
			qp->used++;
			if (public->state == IBV_QPS_ERR)
				flush(qp);
			else if (!qp->stalled)
				progress(qp);
			wr = wr->next;
		}
	}
	unlock();
	if (error == ENOMEM && fault("siw:post_send") != 0) {
		*bad = wr;
		return 0;
	}
	if (error == 0)
		return fault("rxe:post_send");
	*bad = wr;
	return error;
}

int qp_post_recv(struct ibv_qp *public, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = fault("ibv_post_recv");
	struct qp *qp = object_lock(public, QP, "ibv_post_recv");
	while (error == 0 && wr != NULL) {
		if (public->state == IBV_QPS_RESET || public->srq != NULL)
			error = EINVAL;
		else
			error = recv_queue_push_locked(&qp->queue, wr);
		if (error == 0)
			wr = wr->next;
	}
	if (public->state == IBV_QPS_ERR)
		flush(qp);
	qp_progress_stalled_locked();
	unlock();
	if (error != 0)
		*bad = wr;
	return error;
}

static bool is_valid(const struct ibv_qp_init_attr *attr)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	return attr->send_cq != NULL && attr->recv_cq != NULL && cap->max_send_wr <= MOST_WR &&
	       cap->max_recv_wr <= MOST_WR && cap->max_send_sge <= MOST_SGE && cap->max_recv_sge <= MOST_SGE &&
	       cap->max_inline_data <= MOST_INLINE;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	object_check(pd, PD, "ibv_create_qp");
	int error = fault("ibv_create_qp");
	if (error == 0 && !is_valid(attr))
		error = EINVAL;
	if (error == 0)
		error = object_room(QP);
	if (error != 0) {
		errno = error;
		return NULL;
	}
	struct cq *send_cq = object_check(attr->send_cq, CQ, "ibv_create_qp");
	struct cq *recv_cq = object_check(attr->recv_cq, CQ, "ibv_create_qp");
	struct srq *srq = attr->srq == NULL ? NULL : object_check(attr->srq, SRQ, "ibv_create_qp");
	struct qp *qp = object_new(QP, sizeof(*qp));
	qp->public.context = pd->context;
	qp->public.qp_context = attr->qp_context;
	qp->public.pd = pd;
	qp->public.send_cq = attr->send_cq;
	qp->public.recv_cq = attr->recv_cq;
	qp->public.srq = attr->srq;
	qp->public.qp_type = attr->qp_type;
	qp->signal_all = attr->sq_sig_all != 0;
	qp->max_inline = attr->cap.max_inline_data;
	qp->max_send_sge = attr->cap.max_send_sge;
	qp->size = attr->cap.max_send_wr == 0 ? 1 : attr->cap.max_send_wr;
	qp->ring = calloc(qp->size, sizeof(*qp->ring));
	if (qp->ring == NULL || recv_queue_new(&qp->queue, attr->cap.max_recv_wr, attr->cap.max_recv_sge) != 0)
		die("no memory for a queue pair");
	lock();
	object_check(pd, PD, "ibv_create_qp");
	object_check(send_cq, CQ, "ibv_create_qp");
	object_check(recv_cq, CQ, "ibv_create_qp");
	qp->public.qp_num = ++last_number;
	qp->next = pairs[last_number % BUCKETS];
	pairs[last_number % BUCKETS] = qp;
	((struct pd *)pd)->users++;
	send_cq->users++;
	recv_cq->users++;
	if (srq != NULL)
		srq->users++;
	unlock();
	return &qp->public;
}

int ibv_modify_qp(struct ibv_qp *public, struct ibv_qp_attr *attr, int mask)
{
	int error = fault("ibv_modify_qp");
	if (error != 0)
		return error;
	struct qp *qp = object_lock(public, QP, "ibv_modify_qp");
	if (mask & IBV_QP_DEST_QPN)
		qp->dest = attr->dest_qp_num;
	if (mask & IBV_QP_RNR_RETRY)
		qp->rnr_retry = attr->rnr_retry;
	if (mask & IBV_QP_STATE) {
		/* Only a reset leaves the error state. */
		if (public->state == IBV_QPS_ERR && attr->qp_state != IBV_QPS_ERR && attr->qp_state != IBV_QPS_RESET)
			error = EINVAL;
		else
		public->state = attr->qp_state;
		if (attr->qp_state == IBV_QPS_ERR)
			flush(qp);
		qp_progress_stalled_locked();
	}
	unlock();
	return error;
}

int ibv_destroy_qp(struct ibv_qp *public)
{
	/* A device either destroys the queue pair or reports a failure, never both. */
	int error = fault("ibv_destroy_qp");
	if (error != 0)
		return error;
	struct qp *qp = object_lock(public, QP, "ibv_destroy_qp");
	struct qp **link = &pairs[public->qp_num % BUCKETS];
	while (*link != qp)
		link = &(*link)->next;
	*link = qp->next;
	set_stalled(qp, false);
	((struct pd *)public->pd)->users--;
	((struct cq *)public->send_cq)->users--;
	((struct cq *)public->recv_cq)->users--;
	if (public->srq != NULL)
		((struct srq *)public->srq)->users--;
	free(qp->ring);
	free(qp->queue.ring);
	object_free(qp, QP, "ibv_destroy_qp");
	qp_progress_stalled_locked();
	unlock();
	return 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return EOPNOTSUPP;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return EOPNOTSUPP;
}
