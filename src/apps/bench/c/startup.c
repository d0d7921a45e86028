/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * startup.c -- the time of a program in C to its first completed write; io.rpma.bench.device.Startup is the same
 * program in Java
 *
 * usage: startup ADDRESS PORT
 *
 * Prints the times (of CLOCK_MONOTONIC, in nanoseconds) at which main began, the library was loaded (in C the same
 * time), the device was found, the peer was created, the memory was registered, the connection was established, and a
 * write was completed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "client.h"

/* with librpma's default configuration, as in Java */
static struct connection connect_once(const struct client *client)
{
	struct connection connection = { 0 };
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_private_data data = { NULL, 0 };
	char service[16];
	snprintf(service, sizeof(service), "%d", client->port + 1);
	check("rpma_conn_req_new()", rpma_conn_req_new(client->peer, client->address, service, NULL, &req));
	check("rpma_conn_req_connect()", rpma_conn_req_connect(&req, NULL, &connection.conn));
	await_event(connection.conn, RPMA_CONN_ESTABLISHED);
	check("rpma_conn_get_private_data()", rpma_conn_get_private_data(connection.conn, &data));
	check("rpma_conn_get_cq()", rpma_conn_get_cq(connection.conn, &connection.cq));
	check("rpma_mr_remote_from_descriptor()",
	      rpma_mr_remote_from_descriptor(data.ptr, DESCRIPTOR_SIZE, &connection.dram));
	return connection;
}

int main(int argc, char **argv)
{
	uint64_t begun = now_ns();
	struct ibv_context *context = NULL;
	struct client client = { 0 };
	struct load load = { .operation = WRITE, .size = 8, .depth = 1, .count = 1 };
	if (argc != 3) {
		fputs("usage: startup ADDRESS PORT\n", stderr);
		return EXIT_FAILURE;
	}
	client.address = argv[1];
	client.port = atoi(argv[2]);
	check("rpma_utils_get_ibv_context()",
	      rpma_utils_get_ibv_context(client.address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	uint64_t found = now_ns();
	check("rpma_peer_new()", rpma_peer_new(context, &client.peer));
	uint64_t created = now_ns();
	check("rpma_mr_reg()", rpma_mr_reg(client.peer, allocate(4096), 4096, RPMA_MR_USAGE_WRITE_SRC, &client.memory));
	uint64_t registered = now_ns();
	struct connection connection = connect_once(&client);
	uint64_t connected = now_ns();
	run_load(&client, &connection, &load, NULL);
	uint64_t written = now_ns();
	printf("%lu %lu %lu %lu %lu %lu %lu\n", begun, begun, found, created, registered, connected, written);
	close_connection(&connection);
	return EXIT_SUCCESS;
}
