/*
 * client.h -- a client's connections, and what is measured with them
 */
#ifndef RPMA_BENCH_CLIENT_H
#define RPMA_BENCH_CLIENT_H

#include "common.h"
#include "rdma.h"

struct client {
	const char *address;
	int port;
	struct rpma_peer *peer;
	struct rpma_mr_local *memory; /* source and destination of everything */
	struct rdma_connection rdma; /* for librdmacm's operations */
	int end_fds[2];		      /* what else a wait can be ended by: eventfds, as in the library */
};

struct connection {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *dram;
	struct rpma_mr_remote *pmem; /* NULL where the target has none */
};

/* what is measured of one connection */
enum operation {
	WRITE,
	READ,
	FLUSH_VISIBILITY, /* a write and its flush */
	FLUSH_PERSISTENT,
	ATOMIC_WRITE,
	SEND, /* until the answer, of the same bytes, is there */
	WRITE_WITH_IMM, /* until the answer, of no bytes, is there */
	RDMA_WRITE, /* of librdmacm, as those that follow */
	RDMA_WRITE_INLINE, /* of bytes that the post copies */
	RDMA_READ,
	RDMA_SEND, /* until the answer, of the same bytes, is there */
	RDMA_FETCH_AND_ADD,
	OPERATIONS
};

/* how completions are taken */
enum completions {
	POLL,
	WAIT, /* by a wait that can be ended, as that of the library */
	BLOCK, /* by rpma_cq_wait() alone, which nothing else ends; of librpma's operations */
	COMPLETIONS
};

/* a number of operations with so many of them under way at a time */
struct load {
	enum operation operation;
	size_t size; /* in bytes */
	unsigned depth;
	enum completions completions;
	uint64_t count;
};

/* whether librdmacm posts it; else librpma */
static inline bool is_rdmacm(enum operation operation)
{
	return operation >= RDMA_WRITE && operation < OPERATIONS;
}

/* the operation of a name, or OPERATIONS */
enum operation operation_of(const char *name);

/* the way of a name, or COMPLETIONS */
enum completions completions_of(const char *name);

/* posts one operation of a load */
void post_operation(const struct client *client, const struct connection *connection, const struct load *load,
		    uint64_t number);

/* posts the receive of an answer, for an operation that has one */
void receive_answer(const struct client *client, const struct connection *connection, const struct load *load,
		    uint64_t number);

/*
 * takes completions, at least one unless the load polls, and returns how many operations they complete; ends the program if
 * one has failed
 */
unsigned take_completions(const struct client *client, const struct connection *connection, const struct load *load);

/*
 * runs a load and returns how long it took; samples, if not NULL, gets the time from each completion to the next, which
 * with a depth of 1 is the round trip of each operation
 */
uint64_t run_load(const struct client *client, const struct connection *connection, const struct load *load,
		  uint64_t *samples);

/* how long a loop took, in nanoseconds */
struct loop_times {
	uint64_t registration; /* of its connections */
	uint64_t run;
};

/*
 * has one thread serve so many connections, by epoll, until they have written 8 bytes so often: each has one write under
 * way; samples gets the time from each post to the handling of its completion
 */
struct loop_times run_loop(const struct client *client, const struct connection *connections, size_t over,
			   uint64_t count, uint64_t *samples);

/* opens what a client's connections share, at the target of that address, which the client keeps */
struct client open_client(const char *address, int port);

struct connection open_connection(const struct client *client, int port, uint32_t queue_size);

void close_connection(struct connection *connection);

#endif
