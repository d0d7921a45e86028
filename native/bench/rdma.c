/*
 * rdma.c -- a client's side of a connection of librdmacm with the target
 */
#include <endian.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <string.h>

#include "client.h"

/* of a region's descriptor */
struct region {
	uint64_t address;
	uint64_t size;
	uint32_t key;
};

static struct rdma_cm_id *create_id(const char *address, int port)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP};
	struct rdma_addrinfo *info = NULL;
	struct rdma_cm_id *id = NULL;
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = QUEUE_SIZE,
			.max_recv_wr = QUEUE_SIZE,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = INLINE_SIZE,
		},
	};
	char service[16];
	snprintf(service, sizeof(service), "%d", port);
	if (rdma_getaddrinfo(address, service, &hints, &info) != 0)
		fail("rdma_getaddrinfo()");
	if (rdma_create_ep(&id, info, NULL, &attr) != 0)
		fail("rdma_create_ep()");
	rdma_freeaddrinfo(info);
	return id;
}

struct rdma_connection open_rdma_connection(const char *address, int port)
{
	struct rdma_connection connection = {.id = create_id(address, port)};
	struct region offered;
	connection.memory = rdma_reg_msgs(connection.id, allocate(MEMORY_SIZE), MEMORY_SIZE);
	if (connection.memory == NULL)
		fail("rdma_reg_msgs()");
	if (rdma_connect(connection.id, NULL) != 0)
		fail("rdma_connect()");
	memcpy(&offered, connection.id->event->param.conn.private_data, sizeof(offered));
	connection.remote_addr = le64toh(offered.address);
	connection.rkey = le32toh(offered.key);
	return connection;
}
