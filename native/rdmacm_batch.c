/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_batch.c -- RdmaBatch and RdmaPreparedBatch: many posts in one downcall, as chains of work requests
 *
 * A chain is a run of operations of one queue. The device gets a chain in one call, so that it needs one doorbell, or, on
 * soft-RoCE, one system call.
 *
 * Two threads must not use one batch at once. If they do, the fields of their records can mix. This can break their
 * connections, but not the process. Java has checked each field, and the shim reads each field once. Each field for a handle
 * contains handles of one kind of object in all operations. Parts and inline data have their own memory, so that no inline data
 * is taken for a part. One field contains the kind of the local bytes, their number and their place. Only the offset and the
 * length in a region can exceed the region. The device refuses them. The shim refuses an operation that does not fit its queue.
 *
 * The work requests of a prepared batch stay built between its posts. A post checks that their objects are open. Each chain of
 * built work requests has a fixed end, and a link never changes once it is written: threads that race can't make a provider
 * follow a link to a work request that the own post has not checked.
 *
 * The work requests are in front of the header, in descending order, so that the first one has a fixed distance to the header,
 * and so to the first record: a post needs one address for both, and loads none.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"
#include "rdmacm_post.h"
#include "thread.h"

#define MIXED (RESULT_ERRNO - EINVAL)

/* the maximum length of a chain, because each close waits for the mark around its post */
#define AT_ONCE 64

/* a list of parts is added only to AT_ONCE parts or fewer */
#define CHAIN_PARTS (AT_ONCE + RDMACM_MAX_SGE)

/* the flag in a record's field of a work request that is built; Java clears it with each change */
#define BUILT (1L << 31)

/* PreparedPost has the same constant; no result of a post, because no post has a negative number of operations */
#define NOT_TAKEN (-1L)

/* no record contains this value in its field of the operation, or in its field of the region */
#define NONE (-1)

/* RdmaBatch.Op has the same order; the operations before COMPARE_AND_SWAP need no more than a remote address and its key */
enum op { WRITE, WRITE_WITH_IMM, READ, SEND, SEND_WITH_IMM, COMPARE_AND_SWAP, FETCH_AND_ADD, UD_SEND, UD_SEND_WITH_IMM, RECV };

/* the local bytes of an operation; RdmaBatch has the same constants */
enum source { REGION, PARTS, INLINE };

/* a record of RdmaBatch; a field that the operation does not use contains 0 or an old value */
struct record {
	jlong what; /* from the lowest bit: 8 bits operation, 23 flags, 1 BUILT, 32 immediate data */
	jlong queue;
	/* from the lowest bit: 8 bits enum source, 24 number of parts or bytes, 32 offset in their memory or length in a region */
	jlong source;
	jlong mr;
	jlong offset;
	jlong remote_addr;
	jlong keys; /* lower half: rkey, or number of the remote queue pair; upper half: key of the remote queue pair */
	jlong context;
	jlong compare_add;
	jlong swap;
	jlong ah;
};

/* the memory of a batch */
struct batch {
	jlong parts; /* the addresses of the copies */
	jlong inline_data;
	_Alignas(64) struct record records[]; /* on a cache line, where Java copies them faster */
};

_Static_assert(offsetof(struct batch, records) == 64, "BatchRecords.LINE is another size");

/* a work request of the send queue, and its local bytes unless these are several parts */
struct send {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

/* as struct send, for the receive queue */
struct recv {
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
};

/*
 * The work request of one operation of a prepared batch, and its queue pair, which stays the same until the handle of its queue
 * is closed. With it, a post need not follow the pointers from the handle to the queue pair, each of which waits for the one before it.
 */
struct built {
	struct send send;
	struct ibv_qp *qp; /* NULL until the operation is built for the first time */
};

_Static_assert(sizeof(struct built) == 152, "RdmaPreparedBatch.BUILT_SIZE is another size");

/* the work request of a record of a prepared batch; the one of the next record is in front of it */
static inline struct built *built_of(volatile struct batch *batch, jint index)
{
	struct built *first = (struct built *)batch - 1;
	/* most posts begin at the first record, and would wait for the product */
	return __builtin_expect(index == 0, 1) ? first : first - index;
}

struct chain {
	const struct rdma_cm_id *id;
	jint count;
	jint part_count;
	struct ibv_sge parts[CHAIN_PARTS];
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
	[UD_SEND] = IBV_WR_SEND,
	[UD_SEND_WITH_IMM] = IBV_WR_SEND_WITH_IMM,
};

static inline enum op op_of(jlong what)
{
	return (enum op)(what & 0xff);
}

static inline jint flags_of(jlong what)
{
	return (jint)(what >> 8 & 0x7fffff);
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

static inline bool is_datagram(enum op op)
{
	return op == UD_SEND || op == UD_SEND_WITH_IMM;
}

static inline bool is_for_datagrams(const struct ibv_qp *qp)
{
	return qp->qp_type == IBV_QPT_UD;
}

/* sets the local bytes of an operation on one region; returns 1, or the failure */
static inline jint set_region(const volatile struct record *r, jlong source, struct ibv_sge *sge)
{
	return rdmacm_set_region(sge, r->mr, r->offset, upper_half(source)) == RESULT_POSTED ? 1 : RESULT_CLOSED;
}

/* sets inline data; returns 1, or the failure */
static inline jint set_copied(const volatile struct batch *batch, enum op op, jlong source, struct send *send)
{
	if (op == READ || op == COMPARE_AND_SWAP || op == FETCH_AND_ADD)
		return MIXED;
	rdmacm_set_inline(&send->wr, &send->sge, batch->inline_data + upper_half(source), count_of(source));
	return 1;
}

/* sets the other side of an atomic or of a datagram; RESULT_POSTED or the failure */
static jint set_atomic_or_datagram(const volatile struct record *r, enum op op, const struct ibv_qp *qp,
		struct ibv_send_wr *wr)
{
	jlong keys = r->keys;
	/* with another type of queue pair, a provider would take an address for an address handle */
	if (is_for_datagrams(qp) != is_datagram(op))
		return MIXED;
	if (is_datagram(op))
		return rdmacm_set_destination(wr, qp->context, r->ah, (jint)keys, (jint)(keys >> 32));
	rdmacm_set_atomic(wr, r->remote_addr, (jint)keys, r->compare_add, r->swap);
	return RESULT_POSTED;
}

/*
 * Sets all of a work request of the send queue but its local bytes and its successor. Returns RESULT_POSTED or the failure. A
 * send has no remote address: no device uses the one that it gets here.
 */
static inline jint set_operation(const volatile struct record *r, jlong what, const struct ibv_qp *qp,
		struct ibv_send_wr *wr)
{
	enum op op = op_of(what);
	if (op == RECV)
		return MIXED;
	rdmacm_set_message(wr, opcodes[op], flags_of(what), imm_of(what), r->context);
	if (op >= COMPARE_AND_SWAP || is_for_datagrams(qp))
		return set_atomic_or_datagram(r, op, qp, wr);
	rdmacm_set_remote(wr, r->remote_addr, (jint)r->keys);
	return RESULT_POSTED;
}

/* sets a list of parts; returns the number of parts, or the failure */
static inline jint add_parts(struct chain *chain, const volatile struct batch *batch, jlong source)
{
	jint count = count_of(source);
	if (rdmacm_sges(batch->parts + upper_half(source), count, &chain->parts[chain->part_count]) != 0)
		return RESULT_CLOSED;
	chain->part_count += count;
	return count;
}

/*
 * The previous operation of a chain on one region. The next operation often differs from it only in its bytes and its context.
 * The mark protects the region until the post, so that it need not be looked up again.
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
 * Adds the operations of a queue from an index that need only one region, a remote address and its key. Returns the index of the
 * next operation. Only these frequent operations are in this loop: others would slow it down.
 */
static inline jint add_on_regions(struct chain *chain, const volatile struct record *records, jint from, jint count,
		jlong queue)
{
	bool for_datagrams = is_for_datagrams(chain->id->qp);
	struct model model = {.what = NONE, .mr_handle = NONE};
	jint i = from;
	for (; i < count; i++) {
		const volatile struct record *r = &records[i];
		struct send *send = &chain->sends[i];
		jlong what = r->what;
		jlong source = r->source;
		if (r->queue != queue || kind_of(source) != REGION)
			break;
		if (what != model.what) {
			if (op_of(what) >= COMPARE_AND_SWAP || for_datagrams)
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
		rdmacm_set_remote(&send->wr, r->remote_addr, (jint)r->keys);
		rdmacm_set_bytes(&send->sge, model.mr, r->offset, upper_half(source));
	}
	return i;
}

/* whether the next record is a send of the queue, and the chain has room for it */
static inline bool is_next_send(const struct chain *chain, const volatile struct record *records, jint next, jint count,
		jlong queue)
{
	return next < count && chain->part_count <= AT_ONCE && records[next].queue == queue && op_of(records[next].what) != RECV;
}

/* adds a send of any kind; returns RESULT_POSTED or the failure */
static inline jint add_send(struct chain *chain, const volatile struct batch *batch,
		const volatile struct record *r, struct send *send)
{
	jlong what = r->what;
	jlong source = r->source;
	jint parts = set_operation(r, what, chain->id->qp, &send->wr);
	if (parts != RESULT_POSTED)
		return parts;
	send->wr.sg_list = kind_of(source) == PARTS ? &chain->parts[chain->part_count] : &send->sge;
	if (kind_of(source) == REGION)
		parts = set_region(r, source, &send->sge);
	else if (kind_of(source) == INLINE)
		parts = set_copied(batch, op_of(what), source, send);
	else
		parts = add_parts(chain, batch, source);
	if (parts < 0)
		return parts;
	send->wr.num_sge = parts;
	send->wr.next = &send[1].wr;
	return RESULT_POSTED;
}

/*
 * Adds the sends of a queue at the beginning of the records to a chain. Returns RESULT_POSTED, or the failure of the record after
 * the chain.
 */
static inline jint add_sends(struct chain *chain, const volatile struct batch *batch, const volatile struct record *records,
		jint count, jlong queue)
{
	jint result = RESULT_POSTED;
	/* the counter is a local variable: in memory, each operation would wait for the counter of the one before it */
	jint i = add_on_regions(chain, records, 0, count, queue);
	while (is_next_send(chain, records, i, count, queue)) {
		result = add_send(chain, batch, &records[i], &chain->sends[i]);
		if (result != RESULT_POSTED)
			break;
		i++;
		if (i < count && kind_of(records[i].source) == REGION)
			i = add_on_regions(chain, records, i, count, queue);
	}
	if (i > 0)
		chain->sends[i - 1].wr.next = NULL;
	chain->count = i;
	return result;
}

/* adds a receive; returns RESULT_POSTED or the failure */
static inline jint add_recv(struct chain *chain, const volatile struct batch *batch, const volatile struct record *r,
		struct recv *recv)
{
	jlong source = r->source;
	jint parts = MIXED;
	recv->wr.sg_list = &recv->sge;
	if (kind_of(source) == REGION) {
		parts = set_region(r, source, &recv->sge);
	} else if (kind_of(source) == PARTS) {
		recv->wr.sg_list = &chain->parts[chain->part_count];
		parts = add_parts(chain, batch, source);
	}
	if (parts < 0)
		return parts;
	recv->wr.wr_id = (uint64_t)r->context;
	recv->wr.num_sge = parts;
	recv->wr.next = &recv[1].wr;
	return RESULT_POSTED;
}

/* as add_sends(), for receives */
static inline jint add_recvs(struct chain *chain, const volatile struct batch *batch, const volatile struct record *records,
		jint count, jlong queue)
{
	jint result = RESULT_POSTED;
	jint i = 0;
	do {
		result = add_recv(chain, batch, &records[i], &chain->recvs[i]);
		if (result != RESULT_POSTED)
			break;
		i++;
	} while (i < count && chain->part_count <= AT_ONCE && records[i].queue == queue && op_of(records[i].what) == RECV);
	if (i > 0)
		chain->recvs[i - 1].wr.next = NULL;
	chain->count = i;
	return result;
}

/* RESULT_POSTED if an id takes the operations of a chain, or the reason why not */
static inline jint check_queue(const struct rdma_cm_id *id, bool is_recv)
{
	if (__builtin_expect(id == NULL, 0))
		return RESULT_CLOSED;
	if (__builtin_expect(is_recv, 0))
		return id->srq != NULL || id->qp->srq == NULL ? RESULT_POSTED : MIXED;
	/* the id of a shared receive queue has no queue pair */
	if (__builtin_expect(id->qp == NULL, 0))
		return MIXED;
	return __builtin_expect(rdmacm_can_send(id->qp), 1) ? RESULT_POSTED : RESULT_ERRNO - ENOTCONN;
}

/*
 * The number of posted operations of a chain, if the provider names the first operation that it has not posted. The work requests
 * are in ascending or descending order.
 */
static inline jint before(jint count, int error, const void *bad, const void *first, size_t size)
{
	if (bad != NULL)
		return (jint)((size_t)labs((const char *)bad - (const char *)first) / size);
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
 * Posts records from an index as a chain of new work requests. *done gets the number of posts. Returns RESULT_POSTED or the
 * failure of the next record. In one function with a chain that is already built, this code would slow it down.
 */
static __attribute__((noinline)) jint post_copies(volatile struct batch *batch, jint from, jint end, jint *done)
{
	const volatile struct record *records = &batch->records[from];
	jint count = end - from < AT_ONCE ? end - from : AT_ONCE;
	bool is_recv = op_of(records->what) == RECV;
	jlong queue = records->queue;
	struct chain chain;
	chain.id = handle_marked(queue);
	chain.part_count = 0;
	jint refused = check_queue(chain.id, is_recv);
	if (__builtin_expect(refused != RESULT_POSTED, 0))
		return refused;
	refused = is_recv ? add_recvs(&chain, batch, records, count, queue) : add_sends(&chain, batch, records, count, queue);
	if (chain.count == 0)
		return refused;
	int error = is_recv ? post_recvs(&chain, done) : post_sends(&chain, done);
	jint result = chain_result(error, *done, chain.count);
	return result == RESULT_POSTED ? refused : result;
}

static inline bool can_be_built(jlong what, jlong source)
{
	return op_of(what) != RECV && kind_of(source) != PARTS;
}

/* whether the operation after this one is in the same chain; does not depend on the beginning of a post */
static inline bool is_linked(const volatile struct batch *batch, jint index, jint end)
{
	const volatile struct record *r = &batch->records[index];
	return index + 1 < end && (index + 1) % AT_ONCE != 0 && r[1].queue == r->queue && can_be_built(r[1].what, r[1].source);
}

/* builds the work request of an operation; returns whether it is built */
static inline bool build(volatile struct batch *batch, struct built *built, jint index, jint end, struct ibv_qp *qp)
{
	volatile struct record *r = &batch->records[index];
	struct send *send = &built->send;
	jlong what = r->what;
	jlong source = r->source;
	if (!can_be_built(what, source) || set_operation(r, what, qp, &send->wr) != RESULT_POSTED)
		return false;
	jint result = kind_of(source) == INLINE ? set_copied(batch, op_of(what), source, send)
						: set_region(r, source, &send->sge);
	if (result < 0)
		return false;
	send->wr.sg_list = &send->sge;
	send->wr.num_sge = 1;
	send->wr.next = is_linked(batch, index, end) ? &built[-1].send.wr : NULL;
	/* a thread that sees the queue pair or the flag sees the link of the work request too */
	__atomic_store_n(&built->qp, qp, __ATOMIC_RELEASE);
	__atomic_store_n(&r->what, what | BUILT, __ATOMIC_RELEASE);
	return true;
}

/* whether the objects of a built operation are open: the handles are those with which it was built */
static inline bool is_open(const volatile struct record *r, jlong what)
{
	jlong mr = r->mr;
	if (kind_of(r->source) == REGION && !handle_is_of(handle_entry(mr), mr))
		return false;
	jlong ah = r->ah;
	return !is_datagram(op_of(what)) || handle_is_of(handle_entry(ah), ah);
}

/*
 * The number of operations of a chain of built work requests; 0 if an operation can't be built or has a closed object. Builds
 * the operations that are new or changed.
 */
static inline jint check_built(volatile struct batch *batch, struct built *first, jint from, jint end, struct ibv_qp *qp)
{
	const volatile struct record *r = &batch->records[from];
	struct built *built = first;
	jint count = 0;
	do {
		/* read before the work request, if the operation is built */
		jlong what = __atomic_load_n(&r->what, __ATOMIC_ACQUIRE);
		bool ready = __builtin_expect((what & BUILT) != 0, 1) ? is_open(r, what)
								      : build(batch, built, from + count, end, qp);
		if (__builtin_expect(!ready, 0))
			return 0;
		r++;
		count++;
	} while ((built--)->send.wr.next != NULL);
	return count;
}

/* the queue pair of an operation that has been built before; NULL if its queue is closed or can't send */
static inline struct ibv_qp *built_qp(const struct built *built, jlong queue)
{
	struct ibv_qp *qp = __atomic_load_n(&built->qp, __ATOMIC_ACQUIRE);
	bool ready = qp != NULL && handle_is_of(handle_entry(queue), queue) && rdmacm_can_send(qp);
	return __builtin_expect(ready, 1) ? qp : NULL;
}

/* the queue pair of an operation that is to be built; NULL if its queue is closed or can't send, or is for receives */
static __attribute__((noinline)) struct ibv_qp *first_qp(const volatile struct record *r)
{
	const struct rdma_cm_id *id = handle_marked(r->queue);
	bool is_recv = op_of(r->what) == RECV;
	return check_queue(id, is_recv) == RESULT_POSTED && !is_recv ? id->qp : NULL;
}

/* as post_copies(), with work requests that stay built */
static inline jint post_built(volatile struct batch *batch, jint from, jint end, jint *done)
{
	const volatile struct record *r = &batch->records[from];
	struct built *built = built_of(batch, from);
	struct ibv_qp *qp = built_qp(built, r->queue);
	if (qp == NULL)
		qp = first_qp(r);
	jint count = qp != NULL ? check_built(batch, built, from, end, qp) : 0;
	if (count == 0)
		return post_copies(batch, from, end, done);
	struct ibv_send_wr *bad = NULL;
	int error = ibv_post_send(qp, &built->send.wr, &bad);
	*done = before(count, error, bad, built, sizeof(*built));
	return chain_result(error, *done, count);
}

/* lower half: the number of posts; upper half: the result of the post that failed, or 0 */
static jlong batch_result(jint posted, jint result)
{
	return (jlong)((uint64_t)(uint32_t)result << 32 | (uint32_t)posted);
}

/*
 * Posts chains under one mark each, because each close waits for the mark. The work requests stay built if the batch is prepared;
 * if not, each chain has new ones. Returns as rdmaBatchPost().
 */
static inline __attribute__((always_inline)) jlong post_chains(jlong address, jlong range, bool is_prepared)
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
		result = is_prepared ? post_built(batch, next, to, &done) : post_copies(batch, next, to, &done);
		thread_unmark(thread);
		next += done;
	}
	return batch_result(next - from, result);
}

/* as rdmaBatchPost() */
static jlong batch_post(JNI_PARAMS, jlong address, jlong range)
{
	return post_chains(address, range, false);
}

/* the posts that are not usual_post()'s case */
static __attribute__((noinline)) jlong post_any(jlong address, jlong range)
{
	return post_chains(address, range, true);
}

/* the result of a chain whose post has failed, at the work request bad */
static __attribute__((noinline)) jlong chain_failed(const struct built *first, jint count, int error, const void *bad)
{
	jint done = before(count, error, bad, first, sizeof(*first));
	return batch_result(done, chain_result(error, done, count));
}

/* the queue pair of the range, if it is one chain from 0 and the work requests are built and their objects are open; or NULL */
static inline struct ibv_qp *ready_qp(const volatile struct batch *batch, const struct built *built, jlong range)
{
	const volatile struct record *r = batch->records;
	struct ibv_qp *qp = built_qp(built, r->queue);
	if (__builtin_expect(qp == NULL, 0))
		return NULL;
	jlong count = 0;
	do {
		jlong what = __atomic_load_n(&r->what, __ATOMIC_ACQUIRE);
		if (__builtin_expect((what & BUILT) == 0 || !is_open(r, what), 0))
			return NULL;
		r++;
		count++;
	} while ((built--)->send.wr.next != NULL);
	return __builtin_expect(count == range, 1) ? qp : NULL;
}

/*
 * A post of a prepared batch. This function has only the usual case: the whole sequence, as one chain whose work requests are
 * built. The return to Java waits for all loads and stores of the call, and so does the next post: this function has few of both.
 * Another function posts the rest. Whether the first work request is built is read before the mark, because a changed operation is
 * frequent. Returns as rdmaBatchPost().
 */
static inline __attribute__((always_inline)) jlong usual_post(jlong address, jlong range,
		jlong (*rest)(jlong address, jlong range))
{
	volatile struct batch *batch = jni_pointer(address);
	struct built *built = built_of(batch, 0);
	struct thread *thread = thread_self;
	if (__builtin_expect(thread == NULL || (batch->records->what & BUILT) == 0, 0))
		return rest(address, range);
	thread_begin(thread);
	struct ibv_qp *qp = ready_qp(batch, built, range);
	if (__builtin_expect(qp == NULL, 0)) {
		thread_unmark(thread);
		return rest(address, range);
	}
	struct ibv_send_wr *bad = NULL;
	int error = ibv_post_send(qp, &built->send.wr, &bad);
	thread_unmark(thread);
	if (__builtin_expect(error != 0 || bad != NULL, 0))
		return chain_failed(built, (jint)range, error, bad);
	return range;
}

/* as rdmaBatchPost() */
static jlong prepared_post(JNI_PARAMS, jlong address, jlong range)
{
	return usual_post(address, range, post_any);
}

/* NOT_TAKEN in the first call of a thread, because the list of threads has a lock */
static __attribute__((noinline)) jlong post_attached(jlong address, jlong range)
{
	return thread_self != NULL ? post_any(address, range) : NOT_TAKEN;
}

/*
 * As prepared_post(), or NOT_TAKEN. For calls without the transition of JNI, for whose end safepoints of the JVM wait: takes no lock
 * of the shim, calls no Java, and posts at most AT_ONCE operations.
 */
static jlong direct_post(jlong address, jlong range)
{
	return (jint)range <= AT_ONCE ? usual_post(address, range, post_attached) : NOT_TAKEN;
}

/* the address of direct_post() */
static jlong prepared_post_function(JNI_PARAMS)
{
	return (jlong)(uintptr_t)direct_post;
}

static const JNINativeMethod methods[] = {
	{"rdmaBatchPost", "(JJ)J", batch_post},
	{"rdmaPreparedPost", "(JJ)J", prepared_post},
	{"rdmaPreparedPostFunction", "()J", prepared_post_function},
};

const struct jni_table rdmacm_batch_natives = {methods, sizeof(methods) / sizeof(methods[0])};
