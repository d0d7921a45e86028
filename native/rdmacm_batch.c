/*
 * rdmacm_batch.c -- RdmaBatch: many posts in one downcall, as chains of work requests
 *
 * A chain is a run of operations of one queue. The device gets a chain in one call, so that it needs one doorbell, or, on
 * soft-RoCE, one system call.
 *
 * Two threads must not use one batch at once. If they do, the fields of their records can mix. This can break their
 * connections, but not the process. Java has checked each field, and the shim reads each field once. Each field for a handle
 * contains handles of one kind of object in all operations. Parts and inline data have their own memory, so that no inline data
 * is taken for a part. One field contains the place and the number of parts or bytes. Only the
 * offset and the length of a region can exceed the region. The device refuses them. The shim refuses an operation that does not
 * fit its queue.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"
#include "rdmacm_post.h"
#include "thread.h"

#define MIXED (RESULT_ERRNO - EINVAL)

/* the maximum length of a chain, because each close waits for the mark around its post */
#define AT_ONCE 64

/* an operation is added only to AT_ONCE parts or fewer */
#define CHAIN_SGES (AT_ONCE + RDMACM_MAX_SGE)

/* RdmaBatch.Op has the same order */
enum op { WRITE, WRITE_WITH_IMM, READ, SEND, SEND_WITH_IMM, COMPARE_AND_SWAP, FETCH_AND_ADD, UD_SEND, UD_SEND_WITH_IMM, RECV };

/* the local bytes of an operation; RdmaBatch has the same constants */
enum source { REGION, PARTS, INLINE };

/* a record of RdmaBatch; a field that the operation does not use contains 0 or an old value */
struct record {
	jlong what; /* from the lowest bit: 8 bits operation, 24 flags, 32 immediate data */
	jlong queue;
	jlong source; /* from the lowest bit: 8 bits enum source, 24 number of parts or bytes, 32 offset in their memory */
	jlong mr;
	jlong offset;
	jlong length;
	jlong remote_addr;
	jlong keys; /* lower half: rkey, or number of the remote queue pair; upper half: key of the remote queue pair */
	jlong compare_add;
	jlong swap;
	jlong ah;
	jlong context;
};

/* the memory of a batch */
struct batch {
	jlong parts; /* the addresses of the copies */
	jlong inline_data;
	struct record records[];
};

struct chain {
	struct rdma_cm_id *id;
	jint count;
	struct ibv_sge sges[CHAIN_SGES];
	union {
		struct ibv_send_wr sends[AT_ONCE];
		struct ibv_recv_wr recvs[AT_ONCE];
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
	[UD_SEND] = IBV_WR_SEND,
	[UD_SEND_WITH_IMM] = IBV_WR_SEND_WITH_IMM,
};

static inline enum op op_of(jlong what)
{
	return (enum op)(what & 0xff);
}

static inline enum source kind_of(jlong source)
{
	return (enum source)(source & 0xff);
}

static inline jint count_of(jlong source)
{
	return (jint)(source >> 8 & 0xffffff);
}

static inline jlong offset_of(jlong source)
{
	return (jlong)((uint64_t)source >> 32);
}

static inline bool is_datagram(enum op op)
{
	return op == UD_SEND || op == UD_SEND_WITH_IMM;
}

/* sets the local bytes of an operation on regions; returns the number of parts, or the failure */
static inline jint set_memory(const volatile struct batch *batch, const volatile struct record *r, jlong source,
		struct ibv_sge *sges)
{
	if (kind_of(source) == PARTS) {
		jint count = count_of(source);
		return rdmacm_sges(batch->parts + offset_of(source), count, sges) == 0 ? count : RESULT_CLOSED;
	}
	return rdmacm_set_region(sges, r->mr, r->offset, r->length) == RESULT_POSTED ? 1 : RESULT_CLOSED;
}

/* as set_memory(), also for inline data */
static inline jint set_local(const volatile struct batch *batch, const volatile struct record *r, enum op op,
		struct ibv_send_wr *wr, struct ibv_sge *sges)
{
	jlong source = r->source;
	if (kind_of(source) != INLINE)
		return set_memory(batch, r, source, sges);
	if (op == READ || op == COMPARE_AND_SWAP || op == FETCH_AND_ADD)
		return MIXED;
	rdmacm_set_inline(wr, sges, batch->inline_data + offset_of(source), count_of(source));
	return 1;
}

/* sets the other side of an operation; RESULT_POSTED or the failure */
static inline jint set_other_side(const volatile struct record *r, enum op op, const struct rdma_cm_id *id,
		struct ibv_send_wr *wr)
{
	jlong keys = r->keys;
	/* with another type of queue pair, a provider would take an address for an address handle */
	if ((id->qp->qp_type == IBV_QPT_UD) != is_datagram(op))
		return MIXED;
	switch (op) {
	case WRITE:
	case WRITE_WITH_IMM:
	case READ:
		rdmacm_set_remote(wr, r->remote_addr, (jint)keys);
		break;
	case COMPARE_AND_SWAP:
	case FETCH_AND_ADD:
		rdmacm_set_atomic(wr, r->remote_addr, (jint)keys, r->compare_add, r->swap);
		break;
	case UD_SEND:
	case UD_SEND_WITH_IMM:
		return rdmacm_set_destination(wr, id, r->ah, (jint)keys, (jint)(keys >> 32));
	case SEND:
	case SEND_WITH_IMM:
	case RECV:
		break;
	}
	return RESULT_POSTED;
}

/* sets a work request of the send queue, but not its successor; returns the number of parts, or the failure */
static inline jint set_send(const volatile struct batch *batch, const volatile struct record *r, jlong what,
		const struct rdma_cm_id *id, struct ibv_send_wr *wr, struct ibv_sge *sges)
{
	enum op op = op_of(what);
	rdmacm_set_message(wr, opcodes[op], (jint)(what >> 8 & 0xffffff), (jint)(what >> 32), r->context);
	jint parts = set_local(batch, r, op, wr, sges);
	if (parts < 0)
		return parts;
	wr->sg_list = sges;
	wr->num_sge = parts;
	jint result = set_other_side(r, op, id, wr);
	return result == RESULT_POSTED ? parts : result;
}

/* sets a receive, but not its successor; returns the number of parts, or the failure */
static inline jint set_recv(const volatile struct batch *batch, const volatile struct record *r, struct ibv_recv_wr *wr,
		struct ibv_sge *sges)
{
	jlong source = r->source;
	jint parts = kind_of(source) != INLINE ? set_memory(batch, r, source, sges) : MIXED;
	wr->wr_id = (uint64_t)r->context;
	wr->sg_list = sges;
	wr->num_sge = parts;
	return parts;
}

/* RESULT_POSTED if an id takes the operations of a chain, or the reason why not */
static inline jint check_queue(const struct rdma_cm_id *id, bool is_recv)
{
	if (id == NULL)
		return RESULT_CLOSED;
	if (is_recv)
		return id->srq != NULL || id->qp->srq == NULL ? RESULT_POSTED : MIXED;
	/* the id of a shared receive queue has no queue pair */
	if (id->qp == NULL)
		return MIXED;
	return rdmacm_can_send(id->qp) ? RESULT_POSTED : RESULT_ERRNO - ENOTCONN;
}

/*
 * Adds the sends of a queue at the beginning of the records to a chain. Returns RESULT_POSTED, or the failure of the record after
 * the chain.
 */
static inline jint add_sends(struct chain *chain, const volatile struct batch *batch, const volatile struct record *records,
		jint count, jlong what, jlong queue)
{
	/* the counters are local variables: in memory, each operation would wait for the counters of the one before it */
	struct ibv_sge *sges = chain->sges;
	jint parts = 0;
	jint i = 0;
	do {
		struct ibv_send_wr *wr = &chain->sends[i];
		parts = set_send(batch, &records[i], what, chain->id, wr, sges);
		if (parts < 0)
			break;
		wr->next = wr + 1;
		sges += parts;
		if (++i == count || sges - chain->sges > AT_ONCE)
			break;
		what = records[i].what;
	} while (records[i].queue == queue && op_of(what) != RECV);
	if (i > 0)
		chain->sends[i - 1].next = NULL;
	chain->count = i;
	return parts < 0 ? parts : RESULT_POSTED;
}

/* as add_sends(), for receives */
static inline jint add_recvs(struct chain *chain, const volatile struct batch *batch, const volatile struct record *records,
		jint count, jlong queue)
{
	struct ibv_sge *sges = chain->sges;
	jint parts = 0;
	jint i = 0;
	do {
		struct ibv_recv_wr *wr = &chain->recvs[i];
		parts = set_recv(batch, &records[i], wr, sges);
		if (parts < 0)
			break;
		wr->next = wr + 1;
		sges += parts;
		if (++i == count || sges - chain->sges > AT_ONCE)
			break;
	} while (records[i].queue == queue && op_of(records[i].what) == RECV);
	if (i > 0)
		chain->recvs[i - 1].next = NULL;
	chain->count = i;
	return parts < 0 ? parts : RESULT_POSTED;
}

/* the number of posted operations of a chain, if the provider names the first operation that it has not posted */
static inline jint before(const struct chain *chain, int error, const void *bad, ptrdiff_t index)
{
	if (bad != NULL)
		return (jint)index;
	return error == 0 ? chain->count : 0;
}

static inline int post_sends(struct chain *chain, jint *done)
{
	struct ibv_send_wr *bad = NULL;
	int error = ibv_post_send(chain->id->qp, chain->sends, &bad);
	*done = before(chain, error, bad, bad - chain->sends);
	return error;
}

/* to the shared queue of the id, if it has one, as librdmacm */
static inline int post_recvs(struct chain *chain, jint *done)
{
	const struct rdma_cm_id *id = chain->id;
	struct ibv_recv_wr *bad = NULL;
	int error = id->srq != NULL ? ibv_post_srq_recv(id->srq, chain->recvs, &bad)
				    : ibv_post_recv(id->qp, chain->recvs, &bad);
	*done = before(chain, error, bad, bad - chain->recvs);
	return error;
}

/* posts a chain; *done gets the number of posts; returns RESULT_POSTED or the failure of the next operation */
static inline jint post_chain(struct chain *chain, bool is_recv, jint *done)
{
	int error = is_recv ? post_recvs(chain, done) : post_sends(chain, done);
	if (__builtin_expect(error != 0, 0)) {
		errno = error;
		return rdmacm_post_failed();
	}
	/* the provider of siw reports success for a chain that its queue takes only in part */
	return __builtin_expect(*done == chain->count, 1) ? RESULT_POSTED : RESULT_QUEUE_FULL;
}

/* posts the records of one queue at the beginning; *done gets the number of posts; returns RESULT_POSTED or the failure */
static inline jint post_marked(const volatile struct batch *batch, const volatile struct record *records, jint count, jint *done)
{
	struct chain chain;
	jlong what = records->what;
	jlong queue = records->queue;
	bool is_recv = op_of(what) == RECV;
	chain.id = handle_marked(queue);
	jint result = check_queue(chain.id, is_recv);
	if (result != RESULT_POSTED)
		return result;
	jint refused = is_recv ? add_recvs(&chain, batch, records, count, queue)
			       : add_sends(&chain, batch, records, count, what, queue);
	if (chain.count > 0)
		result = post_chain(&chain, is_recv, done);
	return result == RESULT_POSTED ? refused : result;
}

/* posts a run of the first records; *done gets the number of posts; returns RESULT_POSTED or the failure of the next record */
static jint post_run(const volatile struct batch *batch, const volatile struct record *records, jint count, jint *done)
{
	*done = 0;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RDMACM_NOMEM;
	jint result = post_marked(batch, records, count < AT_ONCE ? count : AT_ONCE, done);
	thread_unmark(thread);
	return result;
}

/* lower half: the number of posts; upper half: the result of the post that failed, or 0 */
static jlong batch_post(JNI_PARAMS, jlong address, jlong range)
{
	const volatile struct batch *batch = jni_pointer(address);
	jint from = (jint)(range >> 32);
	jint to = (jint)range;
	jint next = from;
	jint result = RESULT_POSTED;
	while (next < to && result == RESULT_POSTED) {
		jint done;
		result = post_run(batch, &batch->records[next], to - next, &done);
		next += done;
	}
	return (jlong)((uint64_t)(uint32_t)result << 32 | (uint32_t)(next - from));
}

static const JNINativeMethod methods[] = {
	{"rdmaBatchPost", "(JJ)J", batch_post},
};

const struct jni_table rdmacm_batch_natives = {methods, sizeof(methods) / sizeof(methods[0])};
