/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.h -- a client's connections, and the measurements with them
 */
#ifndef RPMA_BENCH_CLIENT_H
#define RPMA_BENCH_CLIENT_H

#include "common.h"
#include "rdma.h"

struct client {
	const char *address;
	int port;
	struct rpma_peer *peer;
	struct rpma_mr_local *memory; /* source and destination of each operation */
	struct rdma_connection rdma;  /* for librdmacm's operations */
	int tcp;		      /* the socket of a load over TCP */
	int end_fds[2];		      /* eventfds that can end a wait, as in the library */
};

struct connection {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *dram;
	struct rpma_mr_remote *pmem; /* NULL if the target has none */
};

/* the measured operations of one connection */
enum operation {
	WRITE,
	READ,
	FLUSH_VISIBILITY, /* a write and its flush */
	FLUSH_PERSISTENT,
	ATOMIC_WRITE,
	SEND,		    /* until the answer with the same bytes has arrived */
	WRITE_WITH_IMM,	    /* until the answer without bytes has arrived */
	RDMA_WRITE,	    /* from here on librdmacm's operations */
	RDMA_WRITE_INLINE,  /* the post copies the bytes */
	RDMA_WRITE_CHAINED, /* one post for several writes, of which the last is signalled */
	RDMA_READ,
	RDMA_SEND, /* until the answer with the same bytes has arrived */
	RDMA_FETCH_AND_ADD,
	TCP, /* a message over TCP, until its acknowledgment has arrived */
	OPERATIONS
};

/* the ways to take completions */
enum completions {
	POLL,
	WAIT,  /* by a wait that can be ended, as in the library */
	BLOCK, /* by rpma_cq_wait() alone, which only a completion ends; for librpma's operations; by recv() for TCP */
	COMPLETIONS
};

/* count operations, of which depth are under way at a time */
struct load {
	enum operation operation;
	size_t size; /* in bytes */
	unsigned depth;
	enum completions completions;
	uint64_t count;
};

/* whether librdmacm posts the operation, and not librpma */
static inline bool is_rdmacm(enum operation operation)
{
	return operation >= RDMA_WRITE && operation < TCP;
}

/* the operation with this name, or OPERATIONS */
enum operation operation_of(const char *name);

/* the way with this name, or COMPLETIONS */
enum completions completions_of(const char *name);

/* posts one operation of a load, which is not RDMA_WRITE_CHAINED */
void post_operation(const struct client *client, const struct connection *connection, const struct load *load,
		    uint64_t number);

/* posts the receive of an answer, for an operation that has one */
void receive_answer(const struct client *client, const struct connection *connection, const struct load *load,
		    uint64_t number);

/*
 * Takes completions, at least one unless the load polls. Returns the number of operations that they complete. Ends the
 * program if an operation has failed.
 */
unsigned take_completions(const struct client *client, const struct connection *connection, const struct load *load);

/*
 * Runs a load and returns its duration. If samples is not NULL, it gets the time from each completion to the next. With
 * a depth of 1 this time is the round trip of an operation.
 */
uint64_t run_load(const struct client *client, const struct connection *connection, const struct load *load,
		  uint64_t *samples);

/* the durations of a loop, in nanoseconds */
struct loop_times {
	uint64_t registration; /* of its connections */
	uint64_t run;
};

/*
 * One thread serves the first over connections by epoll, until they have completed count writes of 8 bytes. Each
 * connection has one write under way. samples gets the time from each post to the handling of its completion.
 */
struct loop_times run_loop(const struct client *client, const struct connection *connections, size_t over,
			   uint64_t count, uint64_t *samples);

/* the same with librdmacm's connections */
struct loop_times run_rdma_loop(const struct rdma_connection *connections, size_t over, uint64_t count,
				uint64_t *samples);

/* opens the objects that a client's connections share; the client keeps the pointer to the target's address */
struct client open_client(const char *address, int port);

struct connection open_connection(const struct client *client, int port, uint32_t queue_size);

void close_connection(struct connection *connection);

#endif
