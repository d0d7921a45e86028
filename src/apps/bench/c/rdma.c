/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.c -- common code of both sides of librdmacm's connections, and the connecting of a client
 */
#include "rdma.h"

#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

void check_rdma(const char *what, int rc)
{
	if (rc != 0)
		fail(what);
}

struct rdma_cm_id *create_rdma_id(const char *address, int port, int flags, uint32_t queue_size)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *info = NULL;
	struct rdma_cm_id *id = NULL;
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = queue_size,
			.max_recv_wr = queue_size,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = INLINE_SIZE,
		},
	};
	char service[16];
	snprintf(service, sizeof(service), "%d", port);
	check_rdma("rdma_getaddrinfo()", rdma_getaddrinfo(address, service, &hints, &info));
	check_rdma("rdma_create_ep()", rdma_create_ep(&id, info, NULL, &attr));
	rdma_freeaddrinfo(info);
	return id;
}

void arm_rdma(struct ibv_cq *cq)
{
	check_rdma("ibv_req_notify_cq()", ibv_req_notify_cq(cq, 0));
}

void rearm_rdma(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = NULL;
	void *context = NULL;
	check_rdma("ibv_get_cq_event()", ibv_get_cq_event(channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	arm_rdma(cq);
}

struct rdma_connection open_rdma_connection(const char *address, int port, uint32_t queue_size, struct ibv_mr *memory)
{
	struct rdma_connection connection = { .id = create_rdma_id(address, port, 0, queue_size), .memory = memory };
	struct rdma_offer offer;
	if (memory == NULL)
		connection.memory = rdma_reg_msgs(connection.id, allocate(MEMORY_SIZE), MEMORY_SIZE);
	if (connection.memory == NULL)
		fail("rdma_reg_msgs()");
	/* as librpma does, so that a wait begins with a poll of the queue and nothing else */
	arm_rdma(connection.id->send_cq);
	arm_rdma(connection.id->recv_cq);
	check_rdma("rdma_connect()", rdma_connect(connection.id, NULL));
	memcpy(&offer, connection.id->event->param.conn.private_data, sizeof(offer));
	connection.remote_addr = offer.remote_addr;
	connection.rkey = offer.rkey;
	return connection;
}
