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

/* the flag in a record's field of a work request that is built; RdmaBatch has the same constant */
#define BUILT (1L << 31)

/* no record contains this value in its field of the operation */
#define NO_OPERATION (-1)

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
	jlong built; /* the address of the built work requests of a prepared batch, or 0 */
	struct record records[];
};

/*
 * The work request of one operation of a prepared batch, and its queue pair, which stays the same until the handle of its queue
 * is closed. With it, a post need not follow the pointers from the handle to the queue pair, each of which waits for the one before it.
 */
struct built {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_qp *qp;
};

_Static_assert(sizeof(struct built) == 152, "RdmaPreparedBatch.BUILT_SIZE is another size");

struct chain {
	const struct rdma_cm_id *id;
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

static inline bool is_for_datagrams(const struct rdma_cm_id *id)
{
	return id->qp->qp_type == IBV_QPT_UD;
}

/* sets the local bytes of an operation on one region; returns 1, or the failure */
static inline jint set_region(const volatile struct record *r, jlong source, struct ibv_sge *sge)
{
	return rdmacm_set_region(sge, r->mr, r->offset, upper_half(source)) == RESULT_POSTED ? 1 : RESULT_CLOSED;
}

/* sets the local bytes of an operation on several regions; returns the number of parts, or the failure */
static inline jint set_parts(const volatile struct batch *batch, jlong source, struct ibv_sge *sges)
{
	jint count = count_of(source);
	return rdmacm_sges(batch->parts + upper_half(source), count, sges) == 0 ? count : RESULT_CLOSED;
}

/* sets inline data; returns 1, or the failure */
static inline jint set_copied(const volatile struct batch *batch, enum op op, jlong source, struct ibv_send_wr *wr,
		struct ibv_sge *sge)
{
	if (op == READ || op == COMPARE_AND_SWAP || op == FETCH_AND_ADD)
		return MIXED;
	rdmacm_set_inline(wr, sge, batch->inline_data + upper_half(source), count_of(source));
	return 1;
}

/* sets the other side of an atomic or of a datagram; RESULT_POSTED or the failure */
static jint set_atomic_or_datagram(const volatile struct record *r, enum op op, const struct rdma_cm_id *id,
		struct ibv_send_wr *wr)
{
	jlong keys = r->keys;
	/* with another type of queue pair, a provider would take an address for an address handle */
	if (is_for_datagrams(id) != is_datagram(op))
		return MIXED;
	if (is_datagram(op))
		return rdmacm_set_destination(wr, id, r->ah, (jint)keys, (jint)(keys >> 32));
	rdmacm_set_atomic(wr, r->remote_addr, (jint)keys, r->compare_add, r->swap);
	return RESULT_POSTED;
}

/*
 * Sets all of a work request of the send queue but its local bytes and its successor. Returns RESULT_POSTED or the failure. A
 * send has no remote address: no device uses the one that it gets here.
 */
static inline jint set_operation(const volatile struct record *r, jlong what, const struct rdma_cm_id *id,
		struct ibv_send_wr *wr)
{
	enum op op = op_of(what);
	rdmacm_set_message(wr, opcodes[op], flags_of(what), imm_of(what), r->context);
	if (op >= COMPARE_AND_SWAP || is_for_datagrams(id))
		return set_atomic_or_datagram(r, op, id, wr);
	rdmacm_set_remote(wr, r->remote_addr, (jint)r->keys);
	return RESULT_POSTED;
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
 * Sets a work request of another kind of operation, or of one with other local bytes, but not its successor. Returns the number
 * of parts, or the failure. In the loop of add_sends(), this code would slow down the frequent operations on one region.
 */
static __attribute__((noinline)) jint set_other_send(const volatile struct batch *batch, const volatile struct record *r,
		jlong what, jlong source, const struct rdma_cm_id *id, struct ibv_send_wr *wr, struct ibv_sge *sges)
{
	jint result = set_operation(r, what, id, wr);
	if (result != RESULT_POSTED)
		return result;
	jint parts = 0;
	if (kind_of(source) == REGION)
		parts = set_region(r, source, sges);
	else if (kind_of(source) == INLINE)
		parts = set_copied(batch, op_of(what), source, wr, sges);
	else
		parts = set_parts(batch, source, sges);
	wr->sg_list = sges;
	wr->num_sge = parts;
	return parts;
}

/* sets a work request of the send queue, but not its successor; returns the number of parts, or the failure */
static inline jint set_send(const volatile struct batch *batch, const volatile struct record *r, jlong what,
		const struct rdma_cm_id *id, bool for_datagrams, struct model *model, struct ibv_send_wr *wr,
		struct ibv_sge *sges)
{
	jlong source = r->source;
	if (__builtin_expect(kind_of(source) != REGION, 0))
		return set_other_send(batch, r, what, source, id, wr, sges);
	if (what != model->what) {
		if (op_of(what) >= COMPARE_AND_SWAP || for_datagrams)
			return set_other_send(batch, r, what, source, id, wr, sges);
		model->what = what;
		model->opcode = opcodes[op_of(what)];
		model->flags = (unsigned)flags_of(what);
		model->imm = htonl((uint32_t)imm_of(what));
	}
	jlong mr_handle = r->mr;
	if (mr_handle != model->mr_handle) {
		model->mr_handle = mr_handle;
		model->mr = handle_marked(mr_handle);
	}
	if (__builtin_expect(model->mr == NULL, 0))
		return RESULT_CLOSED;
	wr->wr_id = (uint64_t)r->context;
	wr->sg_list = sges;
	wr->num_sge = 1;
	wr->opcode = model->opcode;
	wr->send_flags = model->flags;
	wr->imm_data = model->imm;
	rdmacm_set_remote(wr, r->remote_addr, (jint)r->keys);
	rdmacm_set_bytes(sges, model->mr, r->offset, upper_half(source));
	return 1;
}

/* sets a receive, but not its successor; returns the number of parts, or the failure */
static inline jint set_recv(const volatile struct batch *batch, const volatile struct record *r, struct ibv_recv_wr *wr,
		struct ibv_sge *sges)
{
	jlong source = r->source;
	jint parts = MIXED;
	if (kind_of(source) == REGION)
		parts = set_region(r, source, sges);
	else if (kind_of(source) == PARTS)
		parts = set_parts(batch, source, sges);
	wr->wr_id = (uint64_t)r->context;
	wr->sg_list = sges;
	wr->num_sge = parts;
	return parts;
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
 * Adds the sends of a queue at the beginning of the records to a chain. Returns RESULT_POSTED, or the failure of the record after
 * the chain.
 */
static inline jint add_sends(struct chain *chain, const volatile struct batch *batch, const volatile struct record *records,
		jint count, jlong what, jlong queue)
{
	const struct rdma_cm_id *id = chain->id;
	bool for_datagrams = is_for_datagrams(id);
	struct model model = {.what = NO_OPERATION};
	/* the counters are local variables: in memory, each operation would wait for the counters of the one before it */
	struct ibv_sge *sges = chain->sges;
	jint parts = 0;
	jint i = 0;
	do {
		struct ibv_send_wr *wr = &chain->sends[i];
		parts = set_send(batch, &records[i], what, id, for_datagrams, &model, wr, sges);
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
static inline jint before(jint count, int error, const void *bad, const void *first, size_t size)
{
	if (bad != NULL)
		return (jint)((size_t)((const char *)bad - (const char *)first) / size);
	return error == 0 ? count : 0;
}

static inline int post_sends(struct chain *chain, jint *done)
{
	struct ibv_send_wr *bad = NULL;
	int error = ibv_post_send(chain->id->qp, chain->sends, &bad);
	*done = before(chain->count, error, bad, chain->sends, sizeof(chain->sends[0]));
	return error;
}

/* to the shared queue of the id, if it has one, as librdmacm */
static inline int post_recvs(struct chain *chain, jint *done)
{
	const struct rdma_cm_id *id = chain->id;
	struct ibv_recv_wr *bad = NULL;
	int error = id->srq != NULL ? ibv_post_srq_recv(id->srq, chain->recvs, &bad)
				    : ibv_post_recv(id->qp, chain->recvs, &bad);
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

/* posts the records of one queue at the beginning from copies; as post_marked() */
static jint post_copies(const struct rdma_cm_id *id, const volatile struct batch *batch, const volatile struct record *records,
		jint count, jlong what, jlong queue, jint *done)
{
	struct chain chain;
	chain.id = id;
	bool is_recv = op_of(what) == RECV;
	jint refused = is_recv ? add_recvs(&chain, batch, records, count, queue)
			       : add_sends(&chain, batch, records, count, what, queue);
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

static inline struct built *built_of(const volatile struct batch *batch, jint index)
{
	return (struct built *)jni_pointer(batch->built) + index;
}

/* the kind and flags of an operation, read before its work request if the operation is built */
static inline jlong what_built(const volatile struct record *r)
{
	return __atomic_load_n(&r->what, __ATOMIC_ACQUIRE);
}

/* builds the work request of an operation; returns whether it is built */
static bool build(volatile struct batch *batch, jint index, jint end, const struct rdma_cm_id *id)
{
	volatile struct record *r = &batch->records[index];
	struct built *built = built_of(batch, index);
	struct ibv_send_wr *wr = &built->wr;
	jlong what = r->what;
	jlong source = r->source;
	if (!can_be_built(what, source) || set_operation(r, what, id, wr) != RESULT_POSTED)
		return false;
	jint result = kind_of(source) == INLINE ? set_copied(batch, op_of(what), source, wr, &built->sge)
						: set_region(r, source, &built->sge);
	if (result < 0)
		return false;
	wr->sg_list = &built->sge;
	wr->num_sge = 1;
	wr->next = is_linked(batch, index, end) ? &built[1].wr : NULL;
	built->qp = id->qp;
	/* a thread that sees the flag sees the work request too */
	__atomic_store_n(&r->what, what | BUILT, __ATOMIC_RELEASE);
	return true;
}

/* whether the objects of a built operation are open */
static inline bool is_open(const volatile struct record *r, jlong what)
{
	if (kind_of(r->source) == REGION && handle_marked(r->mr) == NULL)
		return false;
	return !is_datagram(op_of(what)) || handle_marked(r->ah) != NULL;
}

/*
 * The number of operations of a chain of built work requests; 0 if an operation can't be built or has a closed object. Builds
 * operations only if there is an id.
 */
static inline jint check_built(volatile struct batch *batch, jint from, jint end, const struct rdma_cm_id *id)
{
	const struct built *built = built_of(batch, 0);
	jint i = from;
	do {
		jlong what = what_built(&batch->records[i]);
		bool ready = __builtin_expect((what & BUILT) != 0, 1) ? is_open(&batch->records[i], what)
								      : id != NULL && build(batch, i, end, id);
		if (!ready)
			return 0;
	} while (built[i++].wr.next != NULL);
	return i - from;
}

static inline jint post_built(struct ibv_qp *qp, struct built *first, jint count, jint *done)
{
	struct ibv_send_wr *bad = NULL;
	int error = ibv_post_send(qp, &first->wr, &bad);
	*done = before(count, error, bad, first, sizeof(*first));
	return chain_result(error, *done, count);
}

/* the queue pair of a built operation; NULL if its queue is closed or can't send */
static inline struct ibv_qp *ready_qp(const volatile struct batch *batch, jint index, jlong queue)
{
	struct ibv_qp *qp = built_of(batch, index)->qp;
	bool ready = handle_is_of(handle_entry(queue), queue) && rdmacm_can_send(qp);
	return __builtin_expect(ready, 1) ? qp : NULL;
}

/* as post_marked(), for a chain that is not built or can't be posted; in one function, this code would slow down built chains */
static __attribute__((noinline)) jint post_unbuilt(volatile struct batch *batch, jint from, jint end, jint *done)
{
	const volatile struct record *first = &batch->records[from];
	jlong what = first->what;
	jlong queue = first->queue;
	const struct rdma_cm_id *id = handle_marked(queue);
	jint result = check_queue(id, op_of(what) == RECV);
	if (__builtin_expect(result != RESULT_POSTED, 0))
		return result;
	jint built = batch->built != 0 ? check_built(batch, from, end, id) : 0;
	if (built > 0)
		return post_built(id->qp, built_of(batch, from), built, done);
	jint count = end - from < AT_ONCE ? end - from : AT_ONCE;
	return post_copies(id, batch, first, count, what, queue, done);
}

/* posts the records of one queue from an index; *done gets the number of posts; returns RESULT_POSTED or the failure */
static inline jint post_marked(volatile struct batch *batch, jint from, jint end, jint *done)
{
	const volatile struct record *first = &batch->records[from];
	jlong what = what_built(first);
	jlong queue = first->queue;
	if ((what & BUILT) != 0) {
		struct ibv_qp *qp = ready_qp(batch, from, queue);
		jint built = qp != NULL ? check_built(batch, from, end, NULL) : 0;
		if (__builtin_expect(built > 0, 1))
			return post_built(qp, built_of(batch, from), built, done);
	}
	return post_unbuilt(batch, from, end, done);
}

/* posts a run of the records from an index; *done gets the number of posts; returns RESULT_POSTED or the failure of the next record */
static jint post_run(volatile struct batch *batch, jint from, jint end, jint *done)
{
	*done = 0;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RDMACM_NOMEM;
	jint result = post_marked(batch, from, end, done);
	thread_unmark(thread);
	return result;
}

/* lower half: the number of posts; upper half: the result of the post that failed, or 0 */
static jlong batch_post(JNI_PARAMS, jlong address, jlong range)
{
	volatile struct batch *batch = jni_pointer(address);
	jint from = (jint)(range >> 32);
	jint to = (jint)range;
	jint next = from;
	jint result = RESULT_POSTED;
	while (next < to && result == RESULT_POSTED) {
		jint done;
		result = post_run(batch, next, to, &done);
		next += done;
	}
	return (jlong)((uint64_t)(uint32_t)result << 32 | (uint32_t)(next - from));
}

static const JNINativeMethod methods[] = {
	{"rdmaBatchPost", "(JJ)J", batch_post},
};

const struct jni_table rdmacm_batch_natives = {methods, sizeof(methods) / sizeof(methods[0])};
