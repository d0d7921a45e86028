/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection.c -- a client's side of a connection with the target, and the objects that the client's connections share
 */
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "client.h"

struct client open_client(const char *address, int port)
{
	struct client client = { .address = address, .port = port, .peer = open_peer(address) };
	check("rpma_mr_reg()",
	      rpma_mr_reg(client.peer, allocate(MEMORY_SIZE), MEMORY_SIZE,
			  RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV,
			  &client.memory));
	for (int i = 0; i < 2; i++) {
		client.end_fds[i] = eventfd(0, EFD_CLOEXEC);
		if (client.end_fds[i] < 0)
			fail("eventfd()");
	}
	return client;
}

static struct rpma_mr_remote *open_offered(const uint8_t *descriptor)
{
	static const uint8_t none[DESCRIPTOR_SIZE];
	struct rpma_mr_remote *remote = NULL;
	if (memcmp(descriptor, none, DESCRIPTOR_SIZE) != 0)
		check("rpma_mr_remote_from_descriptor()",
		      rpma_mr_remote_from_descriptor(descriptor, DESCRIPTOR_SIZE, &remote));
	return remote;
}

static void apply_peer_cfg(struct rpma_conn *conn, uint8_t descriptor)
{
	struct rpma_peer_cfg *cfg = NULL;
	check("rpma_peer_cfg_from_descriptor()", rpma_peer_cfg_from_descriptor(&descriptor, 1, &cfg));
	check("rpma_conn_apply_remote_peer_cfg()", rpma_conn_apply_remote_peer_cfg(conn, cfg));
	check("rpma_peer_cfg_delete()", rpma_peer_cfg_delete(&cfg));
}

struct connection open_connection(const struct client *client, int port, uint32_t queue_size)
{
	struct connection connection;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_cfg *cfg = new_conn_cfg(queue_size);
	struct rpma_conn_private_data data = { NULL, 0 };
	struct offer offer;
	char service[16];
	snprintf(service, sizeof(service), "%d", port);
	check("rpma_conn_req_new()", rpma_conn_req_new(client->peer, client->address, service, cfg, &req));
	check("rpma_conn_cfg_delete()", rpma_conn_cfg_delete(&cfg));
	check("rpma_conn_req_connect()", rpma_conn_req_connect(&req, NULL, &connection.conn));
	await_event(connection.conn, RPMA_CONN_ESTABLISHED);
	check("rpma_conn_get_private_data()", rpma_conn_get_private_data(connection.conn, &data));
	memcpy(&offer, data.ptr, sizeof(offer));
	check("rpma_conn_get_cq()", rpma_conn_get_cq(connection.conn, &connection.cq));
	connection.dram = open_offered(offer.dram);
	connection.pmem = open_offered(offer.pmem);
	apply_peer_cfg(connection.conn, offer.peer_cfg);
	return connection;
}

void close_connection(struct connection *connection)
{
	check("rpma_mr_remote_delete()", rpma_mr_remote_delete(&connection->dram));
	check("rpma_mr_remote_delete()", rpma_mr_remote_delete(&connection->pmem));
	check("rpma_conn_disconnect()", rpma_conn_disconnect(connection->conn));
	await_event(connection->conn, RPMA_CONN_CLOSED);
	check("rpma_conn_delete()", rpma_conn_delete(&connection->conn));
}
