/*
 * loop.c -- one thread serves many connections: each has one write under way, and posts the next when the write completes
 */
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "client.h"

#define CAPACITY 16
#define MOST_READY 256 /* the most events of one wait, as in the library */
#define SIZE 8

struct loop {
	const struct client *client;
	const struct connection *connections;
	uint64_t *posted_at; /* by connection */
	uint64_t *samples;
	uint64_t posted;
	uint64_t done;
	uint64_t count;
};

static void post_write(struct loop *loop, size_t place, uint64_t now)
{
	const struct connection *connection = &loop->connections[place];
	loop->posted_at[place] = now;
	loop->posted++;
	check("rpma_write()", rpma_write(connection->conn, connection->dram, 0, loop->client->memory, 0, SIZE,
					 RPMA_F_COMPLETION_ALWAYS, NULL));
}

static void handle(struct loop *loop, size_t place, const struct ibv_wc *completion)
{
	check_status(completion);
	uint64_t now = now_ns();
	loop->samples[loop->done++] = now - loop->posted_at[place];
	if (loop->posted < loop->count)
		post_write(loop, place, now);
}

static void serve(struct loop *loop, size_t place)
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

static int watch(const struct connection *connections, size_t over)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		fail("epoll_create1()");
	for (size_t place = 0; place < over; place++) {
		struct epoll_event event = {.events = EPOLLIN, .data.u64 = place};
		int fd = -1;
		check("rpma_cq_get_fd()", rpma_cq_get_fd(connections[place].cq, &fd));
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
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
			serve(loop, ready[i].data.u64);
	}
}

struct loop_times run_loop(const struct client *client, const struct connection *connections, size_t over,
			   uint64_t count, uint64_t *samples)
{
	struct loop_times times;
	struct loop loop = {.client = client, .connections = connections, .samples = samples, .count = count};
	loop.posted_at = calloc(over, sizeof(*loop.posted_at));
	if (loop.posted_at == NULL)
		fail("calloc()");
	uint64_t start = now_ns();
	int epoll = watch(connections, over);
	times.registration = now_ns() - start;
	start = now_ns();
	for (size_t place = 0; place < over; place++)
		post_write(&loop, place, now_ns());
	run(&loop, epoll);
	times.run = now_ns() - start;
	close(epoll);
	free(loop.posted_at);
	return times;
}
