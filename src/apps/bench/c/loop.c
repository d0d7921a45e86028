/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.c -- one thread serves many connections: each has one write under way, and posts the next when the write
 * completes
 */
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "client.h"

#define CAPACITY 16
#define MOST_READY 256 /* the most events of one wait, as in the library */
#define SIZE 8

struct loop;

/* the calls of librpma or of librdmacm */
struct calls {
	int (*fd_of)(const struct loop *loop, size_t place);
	void (*post)(const struct loop *loop, size_t place);
	void (*serve)(struct loop *loop, size_t place);
};

struct loop {
	struct calls calls;
	const struct client *client;
	const struct connection *connections;
	const struct rdma_connection *rdma_connections;
	uint64_t *posted_at; /* by connection */
	uint64_t *samples;
	uint64_t posted;
	uint64_t done;
	uint64_t count;
};

static void post_write(struct loop *loop, size_t place, uint64_t now)
{
	loop->posted_at[place] = now;
	loop->posted++;
	loop->calls.post(loop, place);
}

static void handle(struct loop *loop, size_t place, const struct ibv_wc *completion)
{
	check_status(completion);
	uint64_t now = now_ns();
	loop->samples[loop->done++] = now - loop->posted_at[place];
	if (loop->posted < loop->count)
		post_write(loop, place, now);
}

static int rpma_fd_of(const struct loop *loop, size_t place)
{
	int fd = -1;
	check("rpma_cq_get_fd()", rpma_cq_get_fd(loop->connections[place].cq, &fd));
	return fd;
}

static void post_rpma(const struct loop *loop, size_t place)
{
	const struct connection *connection = &loop->connections[place];
	check("rpma_write()", rpma_write(connection->conn, connection->dram, 0, loop->client->memory, 0, SIZE,
					 RPMA_F_COMPLETION_ALWAYS, NULL));
}

static void serve_rpma(struct loop *loop, size_t place)
{
	struct rpma_cq *cq = loop->connections[place].cq;
	struct ibv_wc completions[CAPACITY];
	int taken = 0;
	int rc;
	check("rpma_cq_wait()", rpma_cq_wait(cq));
	while ((rc = rpma_cq_get_wc(cq, CAPACITY, completions, &taken)) == 0) {
		for (int i = 0; i < taken; i++)
			handle(loop, place, &completions[i]);
	}
	if (rc != RPMA_E_NO_COMPLETION)
		check("rpma_cq_get_wc()", rc);
}

static int rdma_fd_of(const struct loop *loop, size_t place)
{
	return loop->rdma_connections[place].id->send_cq_channel->fd;
}

static void post_rdma(const struct loop *loop, size_t place)
{
	const struct rdma_connection *connection = &loop->rdma_connections[place];
	check_rdma("rdma_post_write()",
		   rdma_post_write(connection->id, NULL, connection->memory->addr, SIZE, connection->memory,
				   IBV_SEND_SIGNALED, connection->remote_addr, connection->rkey));
}

static void serve_rdma(struct loop *loop, size_t place)
{
	const struct rdma_cm_id *id = loop->rdma_connections[place].id;
	struct ibv_wc completions[CAPACITY];
	int taken;
	rearm_rdma(id->send_cq_channel);
	while ((taken = ibv_poll_cq(id->send_cq, CAPACITY, completions)) > 0) {
		for (int i = 0; i < taken; i++)
			handle(loop, place, &completions[i]);
	}
	if (taken < 0)
		fail("ibv_poll_cq()");
}

static int watch(const struct loop *loop, size_t over)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		fail("epoll_create1()");
	for (size_t place = 0; place < over; place++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u64 = place };
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, loop->calls.fd_of(loop, place), &event) != 0)
			fail("epoll_ctl()");
	}
	return epoll;
}

static void run(struct loop *loop, int epoll)
{
	struct epoll_event ready[MOST_READY];
	while (loop->done < loop->count) {
		int count = epoll_wait(epoll, ready, MOST_READY, -1);
		if (count < 0)
			fail("epoll_wait()");
		for (int i = 0; i < count; i++)
			loop->calls.serve(loop, ready[i].data.u64);
	}
}

static struct loop_times run_over(struct loop *loop, size_t over)
{
	struct loop_times times;
	loop->posted_at = calloc(over, sizeof(*loop->posted_at));
	if (loop->posted_at == NULL)
		fail("calloc()");
	uint64_t start = now_ns();
	int epoll = watch(loop, over);
	times.registration = now_ns() - start;
	start = now_ns();
	for (size_t place = 0; place < over; place++)
		post_write(loop, place, now_ns());
	run(loop, epoll);
	times.run = now_ns() - start;
	close(epoll);
	free(loop->posted_at);
	return times;
}

struct loop_times run_loop(const struct client *client, const struct connection *connections, size_t over,
			   uint64_t count, uint64_t *samples)
{
	struct loop loop = {
		.calls = { rpma_fd_of, post_rpma, serve_rpma },
		.client = client,
		.connections = connections,
		.samples = samples,
		.count = count,
	};
	return run_over(&loop, over);
}

struct loop_times run_rdma_loop(const struct rdma_connection *connections, size_t over, uint64_t count,
				uint64_t *samples)
{
	struct loop loop = {
		.calls = { rdma_fd_of, post_rdma, serve_rdma },
		.rdma_connections = connections,
		.samples = samples,
		.count = count,
	};
	return run_over(&loop, over);
}
