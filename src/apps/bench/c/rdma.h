/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.h -- librdmacm's connections with the target, which do not use librpma
 */
#ifndef RPMA_BENCH_RDMA_H
#define RPMA_BENCH_RDMA_H

#include <rdma/rdma_cma.h>
#include <stdint.h>

#define INLINE_SIZE 64 /* the maximum size of an inline post and of a message */

/* private data of the target's answer, in native byte order, which both sides share */
struct rdma_offer {
	uint64_t remote_addr; /* of the target's volatile memory */
	uint32_t rkey;
};

/* a client's side */
struct rdma_connection {
	struct rdma_cm_id *id;
	struct ibv_mr *memory; /* source and destination of each operation */
	uint64_t remote_addr;
	uint32_t rkey;
};

/* ends the program with a message and errno if rc is not 0 */
void check_rdma(const char *what, int rc);

/* the flags are those of rdma_getaddrinfo(): RAI_PASSIVE for an id that listens, 0 for an id that connects */
struct rdma_cm_id *create_rdma_id(const char *address, int port, int flags, uint32_t queue_size);

/* requests an event for the next completion */
void arm_rdma(struct ibv_cq *cq);

/* takes the pending event of a queue, and requests the next event */
void rearm_rdma(struct ibv_comp_channel *channel);

/* opens a connection with this memory, of another connection, or with memory of its own if memory is NULL */
struct rdma_connection open_rdma_connection(const char *address, int port, uint32_t queue_size, struct ibv_mr *memory);

#endif
