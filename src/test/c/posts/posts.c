/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * posts.c -- writes a line to the standard error output for each work request that the process posts to a send queue,
 * for each system call that makes a device in software send, for each read that the process finds complete, and for the
 * traffic class and the timeout that it gives to a queue pair; removes the bits in HIDE_CAPABILITIES, a number, from
 * the capabilities of each device
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int query_device_ex_fn(struct ibv_context *, const struct ibv_query_device_ex_input *,
			       struct ibv_device_attr_ex *, size_t);
typedef int poll_cq_fn(struct ibv_cq *, int, struct ibv_wc *);
typedef int post_send_fn(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
typedef void wr_atomic_write_fn(struct ibv_qp_ex *, uint32_t, uint64_t, const void *);
typedef void wr_flush_fn(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t, uint8_t);

/* The functions of an open device that are replaced. */
struct device {
	const struct ibv_context *context;
	query_device_ex_fn *query_device_ex;
	poll_cq_fn *poll_cq;
	post_send_fn *post_send;
	wr_atomic_write_fn *wr_atomic_write;
	wr_flush_fn *wr_flush;
};

/* librdmacm opens devices under a lock, and nobody uses a device before its entry is complete. */
enum { MAX_DEVICES = 64 };
static struct device devices[MAX_DEVICES];

static void die(const char *why)
{
	fprintf(stderr, "posts.c: %s\n", why);
	abort();
}

static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);
	if (function == NULL)
		die(name);
	return function;
}

/* Returns the entry of a device, or the first free entry. */
static struct device *find(const struct ibv_context *context)
{
	int i = 0;
	while (i < MAX_DEVICES && devices[i].context != NULL && devices[i].context != context)
		i++;
	if (i == MAX_DEVICES)
		die("too many devices");
	return &devices[i];
}

static struct device *device_of(const struct ibv_context *context)
{
	struct device *device = find(context);
	if (device->context == NULL)
		die("unknown device");
	return device;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	const char *hidden = getenv("HIDE_CAPABILITIES");
	int error = device_of(context)->query_device_ex(context, input, attr, size);
	if (hidden != NULL)
		attr->device_cap_flags_ex &= ~strtoull(hidden, NULL, 0);
	return error;
}

static int poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wcs)
{
	int count = device_of(cq->context)->poll_cq(cq, entries, wcs);
	for (int i = 0; i < count; i++) {
		if (wcs[i].status == IBV_WC_SUCCESS && wcs[i].opcode == IBV_WC_RDMA_READ)
			fprintf(stderr, "completed read\n");
	}
	return count;
}

static void print_post(const char *operation, uint64_t addr, uint64_t length, unsigned int flags, const char *more)
{
	fprintf(stderr, "posted %s %#llx %llu%s%s\n", operation, (unsigned long long)addr, (unsigned long long)length,
		flags & IBV_SEND_FENCE ? " fence" : "", more);
}

static const char *name_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_READ:
		return "read";
	case IBV_WR_RDMA_WRITE:
		return "write";
	default:
		return "other";
	}
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad)
{
	for (const struct ibv_send_wr *wr = list; wr != NULL; wr = wr->next) {
		uint64_t length = wr->num_sge == 1 ? wr->sg_list[0].length : 0;
		print_post(name_of(wr->opcode), wr->wr.rdma.remote_addr, length, wr->send_flags, "");
	}
	return device_of(qp->context)->post_send(qp, list, bad);
}

static bool is_device(int fd)
{
	for (int i = 0; i < MAX_DEVICES && devices[i].context != NULL; i++) {
		if (devices[i].context->cmd_fd == fd)
			return true;
	}
	return false;
}

/*
 * The provider of soft-RoCE writes a command to the device when it has put the work requests of a call into the queue.
 */
ssize_t write(int fd, const void *bytes, size_t size)
{
	const struct ib_uverbs_cmd_hdr *command = bytes;
	if (is_device(fd) && size >= sizeof(*command) && command->command == IB_USER_VERBS_CMD_POST_SEND)
		fprintf(stderr, "rang\n");
	return syscall(SYS_write, fd, bytes, size);
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, const void *value)
{
	print_post("native atomic write", addr, sizeof(uint64_t), qp->wr_flags, "");
	device_of(qp->qp_base.context)->wr_atomic_write(qp, rkey, addr, value);
}

static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t length, uint8_t type, uint8_t level)
{
	/* IBV_FLUSH_RANGE, which rdma-core has since release 45 */
	const uint8_t range = 0;
	print_post("native flush", addr, length, qp->wr_flags, level == range ? " range" : " region");
	device_of(qp->qp_base.context)->wr_flush(qp, rkey, addr, length, type, level);
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
	struct ibv_context *(*open_device)(struct ibv_device *) = next("ibv_open_device");
	struct ibv_context *context = open_device(of);
	if (context == NULL)
		return NULL;
	struct device *device = find(context);
	device->context = context;
	device->poll_cq = context->ops.poll_cq;
	context->ops.poll_cq = poll_cq;
	device->post_send = context->ops.post_send;
	context->ops.post_send = post_send;
	struct verbs_context *extended = verbs_get_ctx_op(context, query_device_ex);
	if (extended != NULL) {
		device->query_device_ex = extended->query_device_ex;
		extended->query_device_ex = query_device_ex;
	}
	return context;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*modify_qp)(struct ibv_qp *, struct ibv_qp_attr *, int) = next("ibv_modify_qp");
	if ((mask & IBV_QP_AV) != 0)
		fprintf(stderr, "modified %u traffic class %u\n", qp->qp_num, attr->ah_attr.grh.traffic_class);
	if ((mask & IBV_QP_TIMEOUT) != 0)
		fprintf(stderr, "modified %u timeout %u\n", qp->qp_num, attr->timeout);
	return modify_qp(qp, attr, mask);
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int (*create_qp_ex)(struct rdma_cm_id *, struct ibv_qp_init_attr_ex *) = next("rdma_create_qp_ex");
	int result = create_qp_ex(id, attr);
	uint64_t operations = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? attr->send_ops_flags : 0;
	struct ibv_qp_ex *qp = result == 0 && operations != 0 ? ibv_qp_to_qp_ex(id->qp) : NULL;
	if (qp == NULL)
		return result;
	struct device *device = device_of(id->qp->context);
	if ((operations & IBV_QP_EX_WITH_ATOMIC_WRITE) != 0) {
		device->wr_atomic_write = qp->wr_atomic_write;
		qp->wr_atomic_write = wr_atomic_write;
	}
	/* IBV_QP_EX_WITH_FLUSH and the member wr_flush, which rdma-core has since release 45 */
	const uint64_t with_flush = 1 << 11;
	if ((operations & with_flush) != 0) {
		wr_flush_fn **flush = (wr_flush_fn **)(&qp->wr_atomic_write + 1);
		device->wr_flush = *flush;
		*flush = wr_flush;
	}
	return result;
}
