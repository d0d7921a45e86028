/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.c -- the server of the benchmarks' clients, in C and in Java: offers memory, and answers messages
 *
 * usage: target ADDRESS PORT [PMEM]
 *
 * Accepts connections until its standard input ends: at PORT connections with messages, at PORT + 1 connections without
 * messages and with small queues, at PORT + 2 and PORT + 3 the same with librdmacm, and at PORT + 4 TCP. The program
 * sleeps unless a message or a request arrives. Reads, writes and flushes do not wake it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"
#include "target.h"

#define MESSAGE_SIZE (1UL << 20) /* the longest */
#define SLOTS (MEMORY_SIZE / MESSAGE_SIZE)
#define MESSAGES 128 /* that a connection can have under way at a time */
#define COMPLETIONS 64
#define ANSWER UINT64_MAX /* operation context of an answer, whose completion is ignored */

struct target {
	struct rpma_peer *peer;
	struct rpma_mr_local *messages;
	struct offer offer;
	int epoll;
};

struct listener {
	struct rpma_ep *ep;
	struct rpma_conn_cfg *cfg;
	uint64_t messages; /* receives that are posted before a connection is accepted */
	struct watch requests;
};

struct connection {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct watch events;
	struct watch completions;
};

void start_watch(const struct target *target, int fd, struct watch *watch)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };
	if (epoll_ctl(target->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		fail("epoll_ctl()");
}

static size_t slot_of(uint64_t message)
{
	return message % SLOTS * MESSAGE_SIZE;
}

static void *context_of(uint64_t message)
{
	return (void *)(uintptr_t)message;
}

/* posts the receive of the next message, and then answers with the message's own bytes */
static void answer(const struct target *target, const struct connection *connection, const struct ibv_wc *received)
{
	uint64_t message = received->wr_id;
	size_t length = received->opcode == IBV_WC_RECV ? received->byte_len : 0;
	check("rpma_recv()",
	      rpma_recv(connection->conn, target->messages, slot_of(message), MESSAGE_SIZE, context_of(message)));
	check("rpma_send()", rpma_send(connection->conn, target->messages, slot_of(message), length,
				       RPMA_F_COMPLETION_ALWAYS, context_of(ANSWER)));
}

static void serve_completions(const struct target *target, void *subject)
{
	struct connection *connection = subject;
	struct ibv_wc completions[COMPLETIONS];
	int taken = 0;
	int rc;
	check("rpma_cq_wait()", rpma_cq_wait(connection->cq));
	while ((rc = rpma_cq_get_wc(connection->cq, COMPLETIONS, completions, &taken)) == 0) {
		for (int i = 0; i < taken; i++) {
			/* completions fail after the client has closed the connection; an event reports the close */
			if (completions[i].status == IBV_WC_SUCCESS && completions[i].wr_id != ANSWER)
				answer(target, connection, &completions[i]);
		}
	}
	if (rc != RPMA_E_NO_COMPLETION)
		check("rpma_cq_get_wc()", rc);
}

/* the first event reports that the connection is established, any other event reports its end */
static void serve_event(const struct target *target, void *subject)
{
	(void)target;
	struct connection *connection = subject;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	check("rpma_conn_next_event()", rpma_conn_next_event(connection->conn, &event));
	if (event == RPMA_CONN_ESTABLISHED)
		return;
	rpma_conn_disconnect(connection->conn); /* fails if the client is already gone */
	check("rpma_conn_delete()", rpma_conn_delete(&connection->conn));
	free(connection);
}

static void serve_request(const struct target *target, void *subject)
{
	const struct listener *listener = subject;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_private_data offer = { (void *)&target->offer, sizeof(target->offer) };
	struct connection *connection = malloc(sizeof(*connection));
	int fd = -1;
	if (connection == NULL)
		fail("malloc()");
	check("rpma_ep_next_conn_req()", rpma_ep_next_conn_req(listener->ep, listener->cfg, &req));
	for (uint64_t message = 0; message < listener->messages; message++)
		check("rpma_conn_req_recv()",
		      rpma_conn_req_recv(req, target->messages, slot_of(message), MESSAGE_SIZE, context_of(message)));
	check("rpma_conn_req_connect()", rpma_conn_req_connect(&req, &offer, &connection->conn));
	check("rpma_conn_get_cq()", rpma_conn_get_cq(connection->conn, &connection->cq));
	check("rpma_conn_get_event_fd()", rpma_conn_get_event_fd(connection->conn, &fd));
	connection->events = (struct watch){ serve_event, connection };
	start_watch(target, fd, &connection->events);
	if (listener->messages == 0)
		return;
	check("rpma_cq_get_fd()", rpma_cq_get_fd(connection->cq, &fd));
	connection->completions = (struct watch){ serve_completions, connection };
	start_watch(target, fd, &connection->completions);
}

static void listen_at(const struct target *target, struct listener *listener, const char *address, int port)
{
	char service[16];
	int fd = -1;
	snprintf(service, sizeof(service), "%d", port);
	check("rpma_ep_listen()", rpma_ep_listen(target->peer, address, service, &listener->ep));
	check("rpma_ep_get_fd()", rpma_ep_get_fd(listener->ep, &fd));
	listener->requests = (struct watch){ serve_request, listener };
	start_watch(target, fd, &listener->requests);
}

static void end(const struct target *target, void *subject)
{
	(void)target;
	(void)subject;
	exit(EXIT_SUCCESS);
}

static void offer_memory(const struct target *target, void *memory, int flush, uint8_t *descriptor)
{
	struct rpma_mr_local *region = NULL;
	int usage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST | flush;
	check("rpma_mr_reg()", rpma_mr_reg(target->peer, memory, MEMORY_SIZE, usage, &region));
	check("rpma_mr_get_descriptor()", rpma_mr_get_descriptor(region, descriptor));
}

static void offer_pmem(struct target *target, const char *path)
{
	int fd = open(path, O_RDWR);
	void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		fail(path);
	offer_memory(target, memory, RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, target->offer.pmem);
	target->offer
		.peer_cfg = 1; /* direct write to persistent memory: librpma requires it for a flush to persistence */
}

static void prepare_messages(struct target *target)
{
	check("rpma_mr_reg()", rpma_mr_reg(target->peer, allocate(MEMORY_SIZE), MEMORY_SIZE,
					   RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &target->messages));
}

static _Noreturn void serve(const struct target *target)
{
	struct epoll_event event;
	while (true) {
		/* one event at a time, because serving an event can free the subject of the next event */
		if (epoll_wait(target->epoll, &event, 1, -1) < 0)
			fail("epoll_wait()");
		const struct watch *ready = event.data.ptr;
		ready->serve(target, ready->subject);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3 || argc > 4) {
		fputs("usage: target ADDRESS PORT [PMEM]\n", stderr);
		return EXIT_FAILURE;
	}
	const char *address = argv[1];
	int port = atoi(argv[2]);
	show_errors();
	struct target target = { .peer = open_peer(address), .epoll = epoll_create1(EPOLL_CLOEXEC) };
	if (target.epoll < 0)
		fail("epoll_create1()");
	offer_memory(&target, allocate(MEMORY_SIZE), RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, target.offer.dram);
	if (argc > 3)
		offer_pmem(&target, argv[3]);
	prepare_messages(&target);
	struct listener measured = { .cfg = new_conn_cfg(QUEUE_SIZE), .messages = MESSAGES };
	struct listener many = { .cfg = new_conn_cfg(SMALL_QUEUE_SIZE) };
	listen_at(&target, &measured, address, port);
	listen_at(&target, &many, address, port + 1);
	listen_for_rdma(&target, address, port + 2);
	listen_for_tcp(&target, address, port + 4);
	struct watch input = { end, NULL };
	start_watch(&target, STDIN_FILENO, &input);
	puts("ok");
	fflush(stdout);
	serve(&target);
}
