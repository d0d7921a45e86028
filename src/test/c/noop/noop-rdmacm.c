/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * noop-rdmacm.c -- an id of librdmacm whose device does nothing; a part of the library of noop-librpma.c
 *
 * The posts and polls of rdma_verbs.h are inline and call the functions of the device. The functions of this device
 * return at once. There is only one id. Its send completion queue is always empty, and its receive completion queue is
 * always full.
 */
#include <limits.h>
#include <rdma/rdma_verbs.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* the number of operations that the send queue takes */
#define SEND_ROOM INT_MAX

static int poll_empty(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return 0;
}

static int poll_full(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	for (int i = 0; i < num_entries; i++)
		wc[i] = (struct ibv_wc){ .wr_id = (uint64_t)i, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV };
	return num_entries;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return 0;
}

static struct ibv_context context = {
	.ops = {
		.poll_cq = poll_empty,
		.req_notify_cq = req_notify_cq,
		.post_send = post_send,
		.post_recv = post_recv,
	},
};
static struct ibv_context full_context = { .ops = { .poll_cq = poll_full, .req_notify_cq = req_notify_cq } };
static struct ibv_pd the_pd = { .context = &context };
static struct ibv_comp_channel the_comp_channel = { .context = &context, .fd = -1 };
static struct ibv_cq empty_cq = { .context = &context, .channel = &the_comp_channel, .cqe = SEND_ROOM };
static struct ibv_cq full_cq = { .context = &full_context, .channel = &the_comp_channel };
static struct ibv_qp the_qp = { .context = &context, .qp_num = 1, .state = IBV_QPS_RTS };
static struct ibv_mr the_mr = { .context = &context, .pd = &the_pd };
static struct rdma_event_channel the_channel = { .fd = -1 };
static struct rdma_cm_id the_id;

struct rdma_event_channel *rdma_create_event_channel(void)
{
	the_channel.fd = eventfd(0, EFD_CLOEXEC);
	return the_channel.fd < 0 ? NULL : &the_channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *id_context,
		   enum rdma_port_space ps)
{
	the_id = (struct rdma_cm_id){ .channel = channel, .context = id_context, .ps = ps, .qp_type = IBV_QPT_RC };
	*id = &the_id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	return 0;
}

/* binds each address to the device */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	id->verbs = &context;
	id->pd = &the_pd;
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	the_comp_channel.fd = eventfd(0, EFD_CLOEXEC);
	if (the_comp_channel.fd < 0)
		return -1;
	qp_init_attr->cap.max_send_wr = SEND_ROOM;
	id->send_cq = &empty_cq;
	id->recv_cq = &full_cq;
	id->send_cq_channel = &the_comp_channel;
	id->recv_cq_channel = &the_comp_channel;
	id->qp = &the_qp;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	id->qp = NULL;
	close(the_comp_channel.fd);
}

/* in place of the macro, which calls ibv_reg_mr() or ibv_reg_mr_iova2() */
#undef ibv_reg_mr

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	the_mr.addr = addr;
	the_mr.length = length;
	return &the_mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	return 0;
}

/* a device without ports, and so without the limit of a port */
int ibv_query_device(struct ibv_context *of, struct ibv_device_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	return 0;
}
