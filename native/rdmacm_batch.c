/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_batch.c -- RdmaBatch and RdmaPreparedBatch: many posts in one downcall, as chains of work requests
 *
 * A chain is a run of operations of one queue. The device gets a chain in one call, so that it needs one doorbell, or,
 * on soft-RoCE, one system call.
 *
 * Two threads must not use one batch at once. If they do, the fields of their records can mix. This can break their
 * connections, but not the process. Java has checked each field, and a post reads each field once. Each field for a
 * handle contains handles of one kind of object in all operations. One field contains the kind of the local bytes,
 * their number and their place. Only the offset and the length in a region can exceed the region. The device refuses
 * them. The shim refuses an operation that does not fit its queue.
 *
 * The work requests of a prepared batch are in memory of Java, which changes their bytes, remote addresses, contexts
 * and immediate data between posts, and nothing else: the links of a chain never change.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"
#include "rdmacm_post.h"
#include "thread.h"

#define MIXED (RESULT_ERRNO - EINVAL)

/* the maximum length of a chain, because each close waits for the mark around its post */
#define AT_ONCE 64

/* no record contains this value in its field of the operation, or in its field of the region */
#define NONE (-1)

/*
 * RdmaBatch.Op has the same order; the operations before COMPARE_AND_SWAP need no more than a remote address and its
 * key
 */
enum op { WRITE, WRITE_WITH_IMM, READ, SEND, SEND_WITH_IMM, COMPARE_AND_SWAP, FETCH_AND_ADD, RECV };

/* the local bytes of an operation; RdmaBatch has the same constants */
enum source { REGION, INLINE };

/* a record of RdmaBatch; a field that the operation does not use contains 0 or an old value */
struct record {
	jlong what; /* from the lowest bit: 8 bits operation, 24 flags, 32 immediate data */
	jlong queue;
	jlong source; /* from the lowest bit: 8 bits enum source, 24 number of bytes, 32 their offset or length in a
			 region */
	jlong mr;
	jlong offset;
	jlong remote_addr;
	jlong rkey;
	jlong context;
	jlong compare_add;
	jlong swap;
};

/* the memory of a batch */
struct batch {
	jlong inline_data;		      /* the address of the copies */
	_Alignas(64) struct record records[]; /* on a cache line, where Java copies them faster */
};

_Static_assert(offsetof(struct batch, records) == 64, "BatchRecords.LINE is another size");

/* a work request of the send queue, and its local bytes */
struct send {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

/* as struct send, for the receive queue */
struct recv {
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
};

/* the work request of an operation of a prepared batch, and the handle of its region; 0 for inline data */
struct prepared_send {
	struct send send;
	jlong mr;
};

/* the memory of a prepared batch */
struct prepared {
	jlong queue;
	jlong count;
	struct prepared_send sends[];
};

/* RdmaPreparedBatch has the same offsets */
_Static_assert(offsetof(struct prepared, sends) == 16, "HEADER");
_Static_assert(sizeof(struct prepared_send) == 152, "SIZE");
_Static_assert(offsetof(struct prepared_send, send.wr.wr_id) == 0, "WR_ID");
_Static_assert(offsetof(struct prepared_send, send.wr.imm_data) == 36, "IMM_DATA");
_Static_assert(offsetof(struct prepared_send, send.wr.wr.rdma.remote_addr) == 40, "REMOTE_ADDR");
_Static_assert(offsetof(struct prepared_send, send.sge.addr) == 128, "BYTES");
_Static_assert(offsetof(struct prepared_send, send.sge.length) == 136, "LENGTH");

struct chain {
	const struct rdma_cm_id *id;
	jint count;
	union {
		struct send sends[AT_ONCE];
		struct recv recvs[AT_ONCE];
	};
};

static const enum ibv_wr_opcode opcodes[] = {
	[WRITE] = IBV_WR_RDMA_WRITE,
	[WRITE_WITH_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
	[READ] = IBV_WR_RDMA_READ,
	[SEND] = IBV_WR_SEND,
	[SEND_WITH_IMM] = IBV_WR_SEND_WITH_IMM,
	[COMPARE_AND_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
	[FETCH_AND_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
};

static inline enum op op_of(jlong what)
{
	return (enum op)(what & 0xff);
}

static inline jint flags_of(jlong what)
{
	return (jint)(what >> 8 & 0xffffff);
}

static inline jint imm_of(jlong what)
{
	return (jint)(what >> 32);
}

static inline enum source kind_of(jlong source)
{
	return (enum source)(source & 0xff);
}

static inline jint count_of(jlong source)
{
	return (jint)(source >> 8 & 0xffffff);
}

static inline jlong upper_half(jlong source)
{
	return (jlong)((uint64_t)source >> 32);
}

/* sets the local bytes of an operation; RESULT_POSTED or the failure */
static inline jint set_local(const volatile struct batch *batch, const volatile struct record *r, enum op op,
			     struct send *send)
{
	jlong source = r->source;
	send->wr.sg_list = &send->sge;
	send->wr.num_sge = 1;
	if (kind_of(source) == REGION)
		return rdmacm_set_region(&send->sge, r->mr, r->offset, upper_half(source));
	if (op == READ || op == COMPARE_AND_SWAP || op == FETCH_AND_ADD)
		return MIXED;
	rdmacm_set_inline(&send->wr, &send->sge, batch->inline_data + upper_half(source), count_of(source));
	return RESULT_POSTED;
}

/*
 * Sets all of a work request of the send queue but its successor. Returns RESULT_POSTED or the failure. A send has no
 * remote address: no device uses the one that it gets here.
 */
static inline jint set_send(const volatile struct batch *batch, const volatile struct record *r, struct send *send)
{
	jlong what = r->what;
	enum op op = op_of(what);
	if (op == RECV)
		return MIXED;
	rdmacm_set_message(&send->wr, opcodes[op], flags_of(what), imm_of(what), r->context);
	if (op == COMPARE_AND_SWAP || op == FETCH_AND_ADD)
		rdmacm_set_atomic(&send->wr, r->remote_addr, (jint)r->rkey, r->compare_add, r->swap);
	else
		rdmacm_set_remote(&send->wr, r->remote_addr, (jint)r->rkey);
	return set_local(batch, r, op, send);
}

/*
 * The previous operation of a chain on one region. The next operation often differs from it only in its bytes and its
 * context. The mark protects the region until the post, so that it need not be looked up again.
 */
struct model {
	jlong what;
	enum ibv_wr_opcode opcode;
	unsigned flags;
	__be32 imm;
	jlong mr_handle;
	const struct ibv_mr *mr;
};

/*
 * Adds the operations of a queue from an index that need only one region, a remote address and its key. Returns the
 * index of the next operation. Only these frequent operations are in this loop: others would slow it down.
 */
static inline jint add_on_regions(struct chain *chain, const volatile struct record *records, jint from, jint count,
				  jlong queue)
{
	struct model model = { .what = NONE, .mr_handle = NONE };
	jint i = from;
	for (; i < count; i++) {
		const volatile struct record *r = &records[i];
		struct send *send = &chain->sends[i];
		jlong what = r->what;
		jlong source = r->source;
		if (r->queue != queue || kind_of(source) != REGION)
			break;
		if (what != model.what) {
			if (op_of(what) >= COMPARE_AND_SWAP)
				break;
			model.what = what;
			model.opcode = opcodes[op_of(what)];
			model.flags = (unsigned)flags_of(what);
			model.imm = htonl((uint32_t)imm_of(what));
		}
		jlong mr_handle = r->mr;
		if (mr_handle != model.mr_handle) {
			model.mr = handle_marked(mr_handle);
			if (model.mr == NULL)
				break;
			model.mr_handle = mr_handle;
		}
		send->wr.wr_id = (uint64_t)r->context;
		send->wr.next = &send[1].wr;
		send->wr.sg_list = &send->sge;
		send->wr.num_sge = 1;
		send->wr.opcode = model.opcode;
		send->wr.send_flags = model.flags;
		send->wr.imm_data = model.imm;
		rdmacm_set_remote(&send->wr, r->remote_addr, (jint)r->rkey);
		rdmacm_set_bytes(&send->sge, model.mr, r->offset, upper_half(source));
	}
	return i;
}

/* whether the next record is a send of the queue */
static inline bool is_next_send(const volatile struct record *records, jint next, jint count, jlong queue)
{
	return next < count && records[next].queue == queue && op_of(records[next].what) != RECV;
}

/*
 * Adds the sends of a queue at the beginning of the records to a chain. Returns RESULT_POSTED, or the failure of the
 * record after the chain.
 */
static inline jint add_sends(struct chain *chain, const volatile struct batch *batch,
			     const volatile struct record *records, jint count, jlong queue)
{
	jint result = RESULT_POSTED;
	/* the counter is a local variable: in memory, each operation would wait for the counter of the one before it */
	jint i = add_on_regions(chain, records, 0, count, queue);
	while (is_next_send(records, i, count, queue)) {
		struct send *send = &chain->sends[i];
		result = set_send(batch, &records[i], send);
		if (result != RESULT_POSTED)
			break;
		send->wr.next = &send[1].wr;
		i++;
		if (i < count && kind_of(records[i].source) == REGION)
			i = add_on_regions(chain, records, i, count, queue);
	}
	if (i > 0)
		chain->sends[i - 1].wr.next = NULL;
	chain->count = i;
	return result;
}

/* sets a receive but its successor; returns RESULT_POSTED or the failure */
static inline jint set_recv(const volatile struct record *r, struct recv *recv)
{
	jlong source = r->source;
	if (kind_of(source) != REGION)
		return MIXED;
	recv->wr.wr_id = (uint64_t)r->context;
	recv->wr.sg_list = &recv->sge;
	recv->wr.num_sge = 1;
	return rdmacm_set_region(&recv->sge, r->mr, r->offset, upper_half(source));
}

/* as add_sends(), for receives */
static inline jint add_recvs(struct chain *chain, const volatile struct record *records, jint count, jlong queue)
{
	jint result = RESULT_POSTED;
	jint i = 0;
	do {
		struct recv *recv = &chain->recvs[i];
		result = set_recv(&records[i], recv);
		if (result != RESULT_POSTED)
			break;
		recv->wr.next = &recv[1].wr;
		i++;
	} while (i < count && records[i].queue == queue && op_of(records[i].what) == RECV);
	if (i > 0)
		chain->recvs[i - 1].wr.next = NULL;
	chain->count = i;
	return result;
}

/*
 * The id of a shared receive queue has no queue pair. A provider of datagrams would take the remote address of an
 * operation for an address handle.
 */
static inline bool takes_sends(const struct rdma_cm_id *id)
{
	return id->qp != NULL && id->qp->qp_type != IBV_QPT_UD;
}

/* RESULT_POSTED if an id takes the operations of a chain, or the reason why not */
static inline jint check_queue(const struct rdma_cm_id *id, bool is_recv)
{
	if (__builtin_expect(id == NULL, 0))
		return RESULT_CLOSED;
	if (__builtin_expect(is_recv, 0))
		return id->srq != NULL || id->qp->srq == NULL ? RESULT_POSTED : MIXED;
	if (__builtin_expect(!takes_sends(id), 0))
		return MIXED;
	return __builtin_expect(rdmacm_can_send(id->qp), 1) ? RESULT_POSTED : RESULT_ERRNO - ENOTCONN;
}

/*
 * The number of posted operations of a chain, if the provider names the first operation that it has not posted.
 */
static inline jint before(jint count, int error, const void *bad, const void *first, size_t size)
{
	if (bad != NULL)
		return (jint)((size_t)((const char *)bad - (const char *)first) / size);
	return error == 0 ? count : 0;
}

static inline int post_sends(struct chain *chain, jint *done)
{
	struct ibv_send_wr *bad = NULL;
	int error = ibv_post_send(chain->id->qp, &chain->sends[0].wr, &bad);
	*done = before(chain->count, error, bad, chain->sends, sizeof(chain->sends[0]));
	return error;
}

/* to the shared queue of the id, if it has one, as librdmacm */
static inline int post_recvs(struct chain *chain, jint *done)
{
	const struct rdma_cm_id *id = chain->id;
	struct ibv_recv_wr *bad = NULL;
	struct ibv_recv_wr *first = &chain->recvs[0].wr;
	int error = id->srq != NULL ? ibv_post_srq_recv(id->srq, first, &bad) : ibv_post_recv(id->qp, first, &bad);
	*done = before(chain->count, error, bad, chain->recvs, sizeof(chain->recvs[0]));
	return error;
}

/* RESULT_POSTED if a queue took all operations of a chain, or the failure */
static inline jint chain_result(int error, jint done, jint count)
{
	if (__builtin_expect(error != 0, 0)) {
		errno = error;
		return rdmacm_post_failed();
	}
	/* the provider of siw reports success for a chain that its queue takes only in part */
	return __builtin_expect(done == count, 1) ? RESULT_POSTED : RESULT_QUEUE_FULL;
}

/*
 * Posts records from an index as a chain of new work requests. *done gets the number of posts. Returns RESULT_POSTED or
 * the failure of the next record.
 */
static inline jint post_chain(volatile struct batch *batch, jint from, jint end, jint *done)
{
	const volatile struct record *records = &batch->records[from];
	jint count = end - from < AT_ONCE ? end - from : AT_ONCE;
	bool is_recv = op_of(records->what) == RECV;
	jlong queue = records->queue;
	struct chain chain;
	chain.id = handle_marked(queue);
	jint refused = check_queue(chain.id, is_recv);
	if (__builtin_expect(refused != RESULT_POSTED, 0))
		return refused;
	refused = is_recv ? add_recvs(&chain, records, count, queue) : add_sends(&chain, batch, records, count, queue);
	if (chain.count == 0)
		return refused;
	int error = is_recv ? post_recvs(&chain, done) : post_sends(&chain, done);
	jint result = chain_result(error, *done, chain.count);
	return result == RESULT_POSTED ? refused : result;
}

/* lower half: the number of posts; upper half: the result of the post that failed, or 0 */
static jlong batch_result(jint posted, jint result)
{
	return (jlong)((uint64_t)(uint32_t)result << 32 | (uint32_t)posted);
}

/* posts chains under one mark each, because each close waits for the mark; returns as rdmaBatchPost() */
static jlong batch_post(JNI_PARAMS, jlong address, jlong range)
{
	volatile struct batch *batch = jni_pointer(address);
	jint from = (jint)(range >> 32);
	jint to = (jint)range;
	jint next = from;
	jint result = RESULT_POSTED;
	while (next < to && result == RESULT_POSTED) {
		struct thread *thread = thread_mark();
		if (thread == NULL) {
			result = rdmacm_no_memory();
			break;
		}
		jint done = 0;
		result = post_chain(batch, next, to, &done);
		thread_unmark(thread);
		next += done;
	}
	return batch_result(next - from, result);
}

/* as rdmaPrepare(), with the thread marked */
static jint prepare_sends(const volatile struct batch *batch, jint count, struct prepared *prepared)
{
	prepared->queue = batch->records->queue;
	prepared->count = count;
	const struct rdma_cm_id *id = handle_marked(prepared->queue);
	if (id == NULL)
		return RESULT_CLOSED;
	jint result = takes_sends(id) ? RESULT_POSTED : MIXED;
	for (jint i = 0; i < count && result == RESULT_POSTED; i++) {
		const volatile struct record *r = &batch->records[i];
		struct prepared_send *next = &prepared->sends[i];
		result = set_send(batch, r, &next->send);
		next->send.wr.next = &next[1].send.wr;
		next->mr = kind_of(r->source) == REGION ? r->mr : 0;
	}
	prepared->sends[count - 1].send.wr.next = NULL;
	return result;
}

/* builds the work requests of a prepared batch; returns RESULT_POSTED or the failure */
static jint prepare(JNI_PARAMS, jlong address, jint count, jlong prepared)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return rdmacm_no_memory();
	jint result = prepare_sends(jni_pointer(address), count, jni_pointer(prepared));
	thread_unmark(thread);
	return result;
}

/* posts a prepared chain from an operation; *done gets the number of posts; returns RESULT_POSTED or the failure */
static inline jint post_prepared(const struct prepared *prepared, jint from, jint *done)
{
	jint reason = RESULT_POSTED;
	struct rdma_cm_id *id = rdmacm_sender(prepared->queue, &reason);
	if (id == NULL)
		return reason;
	const struct prepared_send *first = &prepared->sends[from];
	jint count = (jint)prepared->count - from;
	for (jint i = 0; i < count; i++) {
		jlong mr = first[i].mr;
		if (mr != 0 && handle_marked(mr) == NULL)
			return RESULT_CLOSED;
	}
	struct ibv_send_wr *bad = NULL;
	int error = ibv_post_send(id->qp, (struct ibv_send_wr *)&first->send.wr, &bad);
	*done = before(count, error, bad, first, sizeof(*first));
	return chain_result(error, *done, count);
}

/* as rdmaBatchPost() */
static jlong prepared_post(JNI_PARAMS, jlong address, jint from)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return batch_result(0, rdmacm_no_memory());
	jint done = 0;
	jint result = post_prepared(jni_pointer(address), from, &done);
	thread_unmark(thread);
	return batch_result(done, result);
}

static const JNINativeMethod methods[] = {
	{ "rdmaBatchPost", "(JJ)J", batch_post },
	{ "rdmaPrepare", "(JIJ)I", prepare },
	{ "rdmaPreparedPost", "(JI)J", prepared_post },
};

const struct jni_table rdmacm_batch_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
