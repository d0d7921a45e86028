/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cost.c -- the cost of a call of librpma or librdmacm in C: the counterpart of io.rpma.bench.cost
 *
 * usage: cost OPERATION SAMPLES [THREADS MILLISECONDS]
 *
 * Prints the nanoseconds of one operation for each sample. With THREADS, this number of threads run the operation at
 * once, and the nanoseconds are the mean of the threads; a sample then takes MILLISECONDS. Run it with libraries that
 * do nothing (noop-librpma.c and noop-rdmacm.c). The threads share their objects, which makes no difference to these
 * libraries.
 *
 * A close of many objects has no THREADS: one thread closes, and another thread posts meanwhile if the operation says
 * so.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <librpma.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

/* the same duration as in Java */
#define SAMPLE_NANOS 2000000LL
/* operations between two readings of the clock, whose cost is then negligible; operations that wait take much longer */
#define BLOCK 1000
#define BLOCK_OF_WAITS 20
/* the objects of a close of many objects */
#define MANY 1000
#define BATCH 16
#define HELD 4 /* buffers of a pool */
#define REGION_SIZE 4096
#define INLINE_SIZE 64
#define PARTS 4
#define NANOS_PER_SECOND 1000000000LL
#define NANOS_PER_MILLISECOND 1000000LL
#define MOST_THREADS 1024
#define CACHE_LINE 64

/* a buffer of the region */
struct buffer {
	struct buffer *next;
	size_t offset;
};

/* the arguments of the operations */
struct target {
	struct rpma_peer *peer;
	struct rpma_conn *conn;
	struct rpma_cq *empty_cq;
	struct rpma_cq *full_cq;
	struct rpma_srq *srq;
	struct rpma_cq *srq_cq;
	int srq_fd;
	int close_fd; /* ends a wait, as in Java */
	int wake_fd;
	struct rpma_mr_local *local;
	struct rpma_mr_remote *remote;
	size_t offset;
	size_t length;
	const void *op_context;
	uint64_t number; /* of the next write whose arguments change */
	uint32_t imm;
	char value[RPMA_ATOMIC_WRITE_ALIGNMENT];
	struct ibv_wc wcs[BATCH];
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	char *memory; /* of the region */
	char inline_data[INLINE_SIZE];
	struct ibv_sge parts[PARTS]; /* of the region */
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t add;
	struct buffer buffers[BATCH];
	struct buffer *free_buffers;
};

/* carries out an operation this number of times */
typedef void operation(struct target *target, int times);

/* makes the compiler compute the value */
static inline void use(uint64_t value)
{
	__asm__ volatile("" : : "r"(value));
}

static inline void check(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "cost: a call answered %d\n", rc);
	exit(EXIT_FAILURE);
}

static void post_read(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rpma_read(t->conn, t->local, t->offset, t->remote, t->offset, t->length, RPMA_F_COMPLETION_ALWAYS,
				t->op_context));
}

static void post_write(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rpma_write(t->conn, t->remote, t->offset, t->local, t->offset, t->length,
				 RPMA_F_COMPLETION_ALWAYS, t->op_context));
}

static void post_write_with_imm(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rpma_write_with_imm(t->conn, t->remote, t->offset, t->local, t->offset, t->length,
					  RPMA_F_COMPLETION_ALWAYS, t->imm, t->op_context));
}

static void post_atomic_write(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rpma_atomic_write(t->conn, t->remote, t->offset, t->value, RPMA_F_COMPLETION_ALWAYS,
					t->op_context));
}

static void post_flush(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rpma_flush(t->conn, t->remote, t->offset, t->length, RPMA_FLUSH_TYPE_VISIBILITY,
				 RPMA_F_COMPLETION_ALWAYS, t->op_context));
}

static void post_send(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rpma_send(t->conn, t->local, t->offset, t->length, RPMA_F_COMPLETION_ALWAYS, t->op_context));
}

static void post_send_with_imm(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rpma_send_with_imm(t->conn, t->local, t->offset, t->length, RPMA_F_COMPLETION_ALWAYS, t->imm,
					 t->op_context));
}

static void post_recv(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rpma_recv(t->conn, t->local, t->offset, t->length, t->op_context));
}

static void poll_nothing(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		int taken = 0;
		if (rpma_cq_get_wc(t->empty_cq, BATCH, t->wcs, &taken) != RPMA_E_NO_COMPLETION)
			check(RPMA_E_UNKNOWN);
	}
}

/* with the timeout 0: takes an event if there is one, and polls again */
static void wait_for_nothing(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		poll_nothing(t, 1);
		if (rpma_cq_wait(t->empty_cq) != RPMA_E_NO_COMPLETION)
			check(RPMA_E_UNKNOWN);
		poll_nothing(t, 1);
	}
}

/* another thread completes the receives */
static void wait_for_receive(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		int taken = 0;
		check(rpma_srq_recv(t->srq, t->local, t->offset, t->length, t->op_context));
		int rc = rpma_cq_get_wc(t->srq_cq, BATCH, t->wcs, &taken);
		while (rc == RPMA_E_NO_COMPLETION) {
			struct pollfd fds[] = { { t->srq_fd, POLLIN, 0 },
						{ t->close_fd, POLLIN, 0 },
						{ t->wake_fd, POLLIN, 0 } };
			check(ppoll(fds, sizeof(fds) / sizeof(fds[0]), NULL, NULL) < 0);
			/* there may be no event: the previous event may have included this completion */
			(void)rpma_cq_wait(t->srq_cq);
			rc = rpma_cq_get_wc(t->srq_cq, BATCH, t->wcs, &taken);
		}
		check(rc);
	}
}

/* reads the context and the status of each completion */
static inline void use_completions(const struct target *t, int taken)
{
	for (int wc = 0; wc < taken; wc++) {
		use(t->wcs[wc].wr_id);
		use(t->wcs[wc].status);
	}
}

static void poll_batch(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		int taken = 0;
		check(rpma_cq_get_wc(t->full_cq, BATCH, t->wcs, &taken));
		use_completions(t, taken);
	}
}

/* each post of a batch has its own offset; in C a batch is only a loop */
static void post_batch(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		for (size_t post = 0; post < BATCH; post++)
			check(rpma_write(t->conn, t->remote, t->offset + post * t->length, t->local,
					 t->offset + post * t->length, t->length, RPMA_F_COMPLETION_ALWAYS,
					 t->op_context));
	}
}

/* the offset of the write with this number: each of BATCH writes in succession has its own */
static inline size_t offset_of(const struct target *t, uint64_t number)
{
	return t->offset + number % BATCH * t->length;
}

static void post_rdma_write(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rdma_post_write(t->id, (void *)t->op_context, t->memory + t->offset, t->length, t->mr,
				      IBV_SEND_SIGNALED, t->remote_addr, t->rkey));
}

static void post_rdma_write_inline(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rdma_post_write(t->id, (void *)t->op_context, t->inline_data, t->length, NULL,
				      IBV_SEND_SIGNALED | IBV_SEND_INLINE, t->remote_addr, t->rkey));
}

static void post_rdma_send(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rdma_post_send(t->id, (void *)t->op_context, t->memory + t->offset, t->length, t->mr,
				     IBV_SEND_SIGNALED));
}

static void post_rdma_send_inline(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rdma_post_send(t->id, (void *)t->op_context, t->inline_data, t->length, NULL,
				     IBV_SEND_SIGNALED | IBV_SEND_INLINE));
}

static void post_rdma_writev(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rdma_post_writev(t->id, (void *)t->op_context, t->parts, PARTS, IBV_SEND_SIGNALED, t->remote_addr,
				       t->rkey));
}

static void post_rdma_read(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rdma_post_read(t->id, (void *)t->op_context, t->memory + t->offset, t->length, t->mr,
				     IBV_SEND_SIGNALED, t->remote_addr, t->rkey));
}

static void post_rdma_recv(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(rdma_post_recv(t->id, (void *)t->op_context, t->memory + t->offset, t->length, t->mr));
}

/* an operation for which librdmacm has no helper; like the helpers, it sets only the fields of the operation */
static inline void post_rdma(struct target *t, struct ibv_send_wr *wr, size_t length)
{
	struct ibv_sge sge = { (uintptr_t)(t->memory + t->offset), (uint32_t)length, t->mr->lkey };
	struct ibv_send_wr *bad = NULL;
	wr->wr_id = (uintptr_t)t->op_context;
	wr->next = NULL;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	check(ibv_post_send(t->id->qp, wr, &bad));
}

static void post_rdma_write_with_imm(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		struct ibv_send_wr wr;
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.imm_data = htonl(t->imm);
		wr.wr.rdma.remote_addr = t->remote_addr;
		wr.wr.rdma.rkey = t->rkey;
		post_rdma(t, &wr, t->length);
	}
}

static void post_rdma_fetch_and_add(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		struct ibv_send_wr wr;
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = t->remote_addr;
		wr.wr.atomic.rkey = t->rkey;
		wr.wr.atomic.compare_add = t->add;
		post_rdma(t, &wr, sizeof(uint64_t));
	}
}

/* makes a chain of writes; the requests and their parts must outlive the posts */
static inline void fill_rdma_chain(const struct target *t, struct ibv_send_wr *wrs, struct ibv_sge *sges, size_t count)
{
	for (size_t post = 0; post < count; post++) {
		struct ibv_send_wr *wr = &wrs[post];
		size_t offset = t->offset + post * t->length;
		sges[post] = (struct ibv_sge){ (uintptr_t)(t->memory + offset), (uint32_t)t->length, t->mr->lkey };
		wr->wr_id = (uintptr_t)t->op_context;
		wr->next = post + 1 < count ? wr + 1 : NULL;
		wr->sg_list = &sges[post];
		wr->num_sge = 1;
		wr->opcode = IBV_WR_RDMA_WRITE;
		wr->send_flags = IBV_SEND_SIGNALED;
		wr->wr.rdma.remote_addr = t->remote_addr + offset;
		wr->wr.rdma.rkey = t->rkey;
	}
}

static void post_rdma_batch(struct target *t, int times)
{
	struct ibv_send_wr wrs[BATCH];
	struct ibv_sge sges[BATCH];
	for (int i = 0; i < times; i++) {
		struct ibv_send_wr *bad = NULL;
		fill_rdma_chain(t, wrs, sges, BATCH);
		check(ibv_post_send(t->id->qp, wrs, &bad));
	}
}

/* a chain that is filled once and posted many times: the best case of C */
static void post_rdma_prepared(struct target *t, int times, size_t count)
{
	struct ibv_send_wr wrs[BATCH];
	struct ibv_sge sges[BATCH];
	fill_rdma_chain(t, wrs, sges, count);
	for (int i = 0; i < times; i++) {
		struct ibv_send_wr *bad = NULL;
		check(ibv_post_send(t->id->qp, wrs, &bad));
	}
}

static void post_rdma_prepared_write(struct target *t, int times)
{
	post_rdma_prepared(t, times, 1);
}

/* a work request that is filled once; the bytes, the remote address and the context change before each post */
static void post_rdma_prepared_changed(struct target *t, int times)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	fill_rdma_chain(t, &wr, &sge, 1);
	for (int i = 0; i < times; i++) {
		struct ibv_send_wr *bad = NULL;
		size_t offset = offset_of(t, t->number);
		sge.addr = (uintptr_t)(t->memory + offset);
		sge.length = (uint32_t)t->length;
		wr.wr.rdma.remote_addr = t->remote_addr + offset;
		wr.wr_id = t->number++;
		check(ibv_post_send(t->id->qp, &wr, &bad));
	}
}

static void post_rdma_prepared_batch(struct target *t, int times)
{
	post_rdma_prepared(t, times, BATCH);
}

static void poll_rdma_nothing(struct target *t, int times)
{
	for (int i = 0; i < times; i++)
		check(ibv_poll_cq(t->id->send_cq, BATCH, t->wcs));
}

static void wait_for_rdma_nothing(struct target *t, int times)
{
	struct ibv_cq *cq = t->id->send_cq;
	struct ibv_cq *of = NULL;
	void *context = NULL;
	for (int i = 0; i < times; i++) {
		check(ibv_poll_cq(cq, BATCH, t->wcs));
		check(ibv_get_cq_event(t->id->send_cq_channel, &of, &context) == 0);
		check(ibv_req_notify_cq(cq, 0));
		check(ibv_poll_cq(cq, BATCH, t->wcs));
	}
}

static void poll_rdma_batch(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		int taken = ibv_poll_cq(t->id->recv_cq, BATCH, t->wcs);
		check(taken != BATCH);
		use_completions(t, taken);
	}
}

/* a list that only one thread may use: the least that a pool of buffers does */
static void take_and_give_back(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		struct buffer *buffer = t->free_buffers;
		t->free_buffers = buffer->next;
		use(buffer->offset);
		buffer->next = t->free_buffers;
		t->free_buffers = buffer;
	}
}

/* as take_and_give_back(), with several buffers that are taken at the same time */
static void take_and_give_back_several(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		struct buffer *taken[HELD];
		for (size_t held = 0; held < HELD; held++) {
			taken[held] = t->free_buffers;
			t->free_buffers = taken[held]->next;
			use(taken[held]->offset);
		}
		for (size_t held = 0; held < HELD; held++) {
			taken[held]->next = t->free_buffers;
			t->free_buffers = taken[held];
		}
	}
}

static void open_and_close(struct target *t, int times)
{
	(void)t;
	for (int i = 0; i < times; i++) {
		struct rpma_conn_cfg *cfg = NULL;
		check(rpma_conn_cfg_new(&cfg));
		check(rpma_conn_cfg_delete(&cfg));
	}
}

static void register_and_close(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		struct rpma_mr_local *mr = NULL;
		check(rpma_mr_reg(t->peer, t->memory, REGION_SIZE, RPMA_MR_USAGE_READ_DST, &mr));
		check(rpma_mr_dereg(&mr));
	}
}

static void open_conn(struct target *t, struct rpma_conn **conn)
{
	struct rpma_conn_req *req = NULL;
	check(rpma_conn_req_new(t->peer, "localhost", "7204", NULL, &req));
	check(rpma_conn_req_connect(&req, NULL, conn));
}

static void connect_and_close(struct target *t, int times)
{
	for (int i = 0; i < times; i++) {
		struct rpma_conn *conn = NULL;
		open_conn(t, &conn);
		check(rpma_conn_delete(&conn));
	}
}

static const struct measured {
	const char *name;
	operation *run;
	int parts; /* operations in one run */
	int block;
} operations[] = {
	{ "read", post_read, 1, BLOCK },
	{ "write", post_write, 1, BLOCK },
	{ "writeWithImm", post_write_with_imm, 1, BLOCK },
	{ "atomicWrite", post_atomic_write, 1, BLOCK },
	{ "flush", post_flush, 1, BLOCK },
	{ "send", post_send, 1, BLOCK },
	{ "sendWithImm", post_send_with_imm, 1, BLOCK },
	{ "recv", post_recv, 1, BLOCK },
	{ "emptyPoll", poll_nothing, 1, BLOCK },
	{ "emptyWait", wait_for_nothing, 1, BLOCK },
	{ "receive", wait_for_receive, 1, BLOCK_OF_WAITS },
	{ "pollOf16", poll_batch, BATCH, BLOCK },
	{ "batchOf16", post_batch, BATCH, BLOCK },
	{ "rdmaWrite", post_rdma_write, 1, BLOCK },
	{ "rdmaWriteInline", post_rdma_write_inline, 1, BLOCK },
	{ "rdmaWritev", post_rdma_writev, 1, BLOCK },
	{ "rdmaWriteWithImm", post_rdma_write_with_imm, 1, BLOCK },
	{ "rdmaRead", post_rdma_read, 1, BLOCK },
	{ "rdmaFetchAndAdd", post_rdma_fetch_and_add, 1, BLOCK },
	{ "rdmaSend", post_rdma_send, 1, BLOCK },
	{ "rdmaSendInline", post_rdma_send_inline, 1, BLOCK },
	{ "rdmaRecv", post_rdma_recv, 1, BLOCK },
	{ "rdmaBatchOf16", post_rdma_batch, BATCH, BLOCK },
	{ "rdmaPreparedWrite", post_rdma_prepared_write, 1, BLOCK },
	{ "rdmaPreparedChanged", post_rdma_prepared_changed, 1, BLOCK },
	{ "rdmaPreparedOf16", post_rdma_prepared_batch, BATCH, BLOCK },
	{ "rdmaEmptyPoll", poll_rdma_nothing, 1, BLOCK },
	{ "rdmaEmptyWait", wait_for_rdma_nothing, 1, BLOCK },
	{ "rdmaPollOf16", poll_rdma_batch, BATCH, BLOCK },
	{ "poolTakeGiveBack", take_and_give_back, 1, BLOCK },
	{ "poolOf4", take_and_give_back_several, HELD, BLOCK },
	{ "writeShared", post_write, 1, BLOCK },
	{ "emptyPollShared", poll_nothing, 1, BLOCK },
	{ "openAndClose", open_and_close, 1, BLOCK },
	{ "registerAndClose", register_and_close, 1, BLOCK },
	{ "registerAndCloseShared", register_and_close, 1, BLOCK },
	{ "connectAndClose", connect_and_close, 1, BLOCK },
	{ "connectAndCloseShared", connect_and_close, 1, BLOCK },
};

static struct rpma_mr_local *regions[MANY];
static struct rpma_conn_cfg *cfgs[MANY];
static struct rpma_conn *conns[MANY];

static void open_regions(struct target *t)
{
	for (int i = 0; i < MANY; i++)
		check(rpma_mr_reg(t->peer, t->memory, REGION_SIZE, RPMA_MR_USAGE_READ_DST, &regions[i]));
}

static void close_regions(void)
{
	for (int i = 0; i < MANY; i++)
		check(rpma_mr_dereg(&regions[i]));
}

static void open_cfgs(struct target *t)
{
	(void)t;
	for (int i = 0; i < MANY; i++)
		check(rpma_conn_cfg_new(&cfgs[i]));
}

static void close_cfgs(void)
{
	for (int i = 0; i < MANY; i++)
		check(rpma_conn_cfg_delete(&cfgs[i]));
}

static void open_conns(struct target *t)
{
	for (int i = 0; i < MANY; i++)
		open_conn(t, &conns[i]);
}

static void close_conns(void)
{
	for (int i = 0; i < MANY; i++)
		check(rpma_conn_delete(&conns[i]));
}

/* the closes of many objects; librpma can't close them at once, so that C does the same in both cases of Java */
static const struct close_of_many {
	const char *name;
	void (*open)(struct target *target);
	void (*close)(void);
	bool is_beside_write; /* another thread posts writes */
} closes[] = {
	{ "closeRegions", open_regions, close_regions, false },
	{ "closeRegionsAtOnce", open_regions, close_regions, false },
	{ "closeRegionsBesideWrite", open_regions, close_regions, true },
	{ "closeRegionsAtOnceBesideWrite", open_regions, close_regions, true },
	{ "closeCfgs", open_cfgs, close_cfgs, false },
	{ "closeCfgsAtOnce", open_cfgs, close_cfgs, false },
	{ "closeCfgsBesideWrite", open_cfgs, close_cfgs, true },
	{ "closeCfgsAtOnceBesideWrite", open_cfgs, close_cfgs, true },
	{ "closeConns", open_conns, close_conns, false },
	{ "closeConnsAtOnce", open_conns, close_conns, false },
	{ "closeConnsBesideWrite", open_conns, close_conns, true },
	{ "closeConnsAtOnceBesideWrite", open_conns, close_conns, true },
};

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NANOS_PER_SECOND + time.tv_nsec;
}

/* the nanoseconds of one run */
static double sample(operation *run, int block, struct target *target)
{
	int64_t start = now();
	int64_t end = start;
	int64_t times = 0;
	while (end - start < SAMPLE_NANOS) {
		run(target, block);
		times += block;
		end = now();
	}
	return (double)(end - start) / (double)times;
}

static void connect_to(struct rpma_peer *peer, struct target *target)
{
	struct rpma_conn_req *req = NULL;
	check(rpma_conn_req_new(peer, "localhost", "7204", NULL, &req));
	check(rpma_conn_req_connect(&req, NULL, &target->conn));
	check(rpma_conn_get_cq(target->conn, &target->empty_cq));
	check(rpma_conn_get_rcq(target->conn, &target->full_cq));
	check(rpma_srq_new(peer, NULL, &target->srq));
	check(rpma_srq_get_rcq(target->srq, &target->srq_cq));
	check(rpma_cq_get_fd(target->srq_cq, &target->srq_fd));
	target->close_fd = eventfd(0, EFD_CLOEXEC);
	target->wake_fd = eventfd(0, EFD_CLOEXEC);
	check(target->close_fd < 0 || target->wake_fd < 0);
}

static void make_id(struct rdma_event_channel *channel, char memory[REGION_SIZE], struct target *target)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct ibv_qp_init_attr attr = { .cap = { .max_send_sge = PARTS, .max_inline_data = INLINE_SIZE } };
	check(rdma_create_id(channel, &target->id, NULL, RDMA_PS_TCP));
	check(rdma_bind_addr(target->id, (struct sockaddr *)&address));
	check(rdma_create_qp(target->id, NULL, &attr));
	check(fcntl(target->id->send_cq_channel->fd, F_SETFL, O_NONBLOCK));
	target->mr = rdma_reg_write(target->id, memory, REGION_SIZE);
	check(target->mr == NULL);
	target->memory = memory;
	target->add = 1;
	for (size_t i = 0; i < PARTS; i++)
		target->parts[i] = (struct ibv_sge){ (uintptr_t)(memory + i * target->length), (uint32_t)target->length,
						     target->mr->lkey };
}

static void map_region(struct rpma_peer *peer, char memory[REGION_SIZE], struct target *target)
{
	size_t size = 0;
	check(rpma_mr_reg(peer, memory, REGION_SIZE, RPMA_MR_USAGE_READ_DST, &target->local));
	check(rpma_mr_get_descriptor_size(target->local, &size));
	char *descriptor = malloc(size);
	if (descriptor == NULL)
		check(RPMA_E_NOMEM);
	check(rpma_mr_get_descriptor(target->local, descriptor));
	check(rpma_mr_remote_from_descriptor(descriptor, size, &target->remote));
	free(descriptor);
}

static void fill_list(struct target *target)
{
	for (size_t i = 0; i < BATCH; i++) {
		target->buffers[i] = (struct buffer){ target->free_buffers, i * target->length };
		target->free_buffers = &target->buffers[i];
	}
}

static void open_target(struct rpma_peer *peer, char memory[REGION_SIZE], struct target *target)
{
	target->peer = peer;
	target->length = 64;
	target->imm = 1;
	fill_list(target);
	map_region(peer, memory, target);
	connect_to(peer, target);
}

static void destroy_id(struct target *target)
{
	check(rdma_dereg_mr(target->mr));
	rdma_destroy_qp(target->id);
	check(rdma_destroy_id(target->id));
}

static void close_target(struct target *target)
{
	check(rpma_srq_delete(&target->srq));
	check(rpma_conn_delete(&target->conn));
	check(rpma_mr_remote_delete(&target->remote));
	check(rpma_mr_dereg(&target->local));
}

/* a thread that repeats an operation until the end */
struct worker {
	_Alignas(CACHE_LINE) struct target target;
	const struct measured *measured;
	pthread_t thread;
	_Alignas(CACHE_LINE) atomic_long times;
};

static struct worker workers[MOST_THREADS];
static atomic_bool ended;

static void *work(void *argument)
{
	struct worker *worker = argument;
	while (!atomic_load_explicit(&ended, memory_order_relaxed)) {
		worker->measured->run(&worker->target, worker->measured->block);
		atomic_fetch_add_explicit(&worker->times, worker->measured->block, memory_order_relaxed);
	}
	return NULL;
}

static long times_of(int threads)
{
	long times = 0;
	for (int i = 0; i < threads; i++)
		times += atomic_load_explicit(&workers[i].times, memory_order_relaxed);
	return times;
}

/* the mean nanoseconds of one run; this thread sleeps meanwhile, longer if the threads had no processor */
static double sample_workers(int threads, int64_t nanos)
{
	const struct timespec pause = { nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND };
	int64_t start = now();
	long before = times_of(threads);
	long times = 0;
	while (times == 0) {
		check(nanosleep(&pause, NULL));
		times = times_of(threads) - before;
	}
	return (double)(now() - start) * threads / (double)times;
}

static void measure_workers(const struct measured *measured, const struct target *target, int threads, int64_t nanos,
			    long samples)
{
	for (int i = 0; i < threads; i++) {
		workers[i].target = *target;
		workers[i].measured = measured;
		check(-pthread_create(&workers[i].thread, NULL, work, &workers[i]));
	}
	(void)sample_workers(threads, nanos);
	for (long i = 0; i < samples; i++)
		printf("%.3f\n", sample_workers(threads, nanos) / measured->parts);
	atomic_store(&ended, true);
	for (int i = 0; i < threads; i++)
		check(-pthread_join(workers[i].thread, NULL));
}

static void measure(const struct measured *measured, struct target *target, long samples)
{
	(void)sample(measured->run, measured->block, target);
	for (long i = 0; i < samples; i++)
		printf("%.3f\n", sample(measured->run, measured->block, target) / measured->parts);
}

/*
 * the nanoseconds of the close of one object; the time without the opens is as long as the sample of another operation
 */
static double sample_closes(const struct close_of_many *chosen, struct target *target)
{
	int64_t spent = 0;
	int64_t times = 0;
	while (spent < SAMPLE_NANOS) {
		chosen->open(target);
		int64_t start = now();
		chosen->close();
		spent += now() - start;
		times += MANY;
	}
	return (double)spent / (double)times;
}

static const struct measured *find_operation(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (strcmp(operations[i].name, name) == 0)
			return &operations[i];
	}
	return NULL;
}

static const struct close_of_many *find_close(const char *name)
{
	for (size_t i = 0; i < sizeof(closes) / sizeof(closes[0]); i++) {
		if (strcmp(closes[i].name, name) == 0)
			return &closes[i];
	}
	return NULL;
}

static void measure_closes(const struct close_of_many *chosen, struct target *target, long samples)
{
	struct worker *poster = &workers[0];
	poster->target = *target;
	poster->measured = find_operation("write");
	if (chosen->is_beside_write)
		check(-pthread_create(&poster->thread, NULL, work, poster));
	(void)sample_closes(chosen, target);
	for (long i = 0; i < samples; i++)
		printf("%.3f\n", sample_closes(chosen, target));
	atomic_store(&ended, true);
	if (chosen->is_beside_write)
		check(-pthread_join(poster->thread, NULL));
}

/* the argument, or 0 if it is missing or no number */
static long number(int argc, char *argv[], int index)
{
	return index < argc ? strtol(argv[index], NULL, 10) : 0;
}

int main(int argc, char *argv[])
{
	long samples = number(argc, argv, 2);
	long threads = number(argc, argv, 3);
	long milliseconds = number(argc, argv, 4);
	bool has_threads = argc == 5 && threads > 0 && threads <= MOST_THREADS && milliseconds > 0;
	const struct measured *measured = argc > 1 ? find_operation(argv[1]) : NULL;
	const struct close_of_many *closing = argc > 1 ? find_close(argv[1]) : NULL;
	bool is_known = closing != NULL ? argc == 3 : measured != NULL && (argc == 3 || has_threads);
	if (samples <= 0 || !is_known) {
		fprintf(stderr, "usage: cost OPERATION SAMPLES [THREADS MILLISECONDS]\n");
		return 2;
	}

	static char memory[REGION_SIZE];
	struct target target = { 0 };
	struct ibv_context *context = NULL;
	struct rpma_peer *peer = NULL;
	struct rdma_event_channel *channel = rdma_create_event_channel();
	if (channel == NULL)
		check(RPMA_E_PROVIDER);
	check(rpma_utils_get_ibv_context("localhost", RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	check(rpma_peer_new(context, &peer));
	open_target(peer, memory, &target);
	make_id(channel, memory, &target);

	if (closing != NULL)
		measure_closes(closing, &target, samples);
	else if (has_threads)
		measure_workers(measured, &target, (int)threads, milliseconds * NANOS_PER_MILLISECOND, samples);
	else
		measure(measured, &target, samples);

	destroy_id(&target);
	close_target(&target);
	rdma_destroy_event_channel(channel);
	check(rpma_peer_delete(&peer));
	return 0;
}
