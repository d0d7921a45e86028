/*
 * rdma.h -- connections of librdmacm with the target, in which librpma has no part
 */
#ifndef RPMA_BENCH_RDMA_H
#define RPMA_BENCH_RDMA_H

#include <rdma/rdma_cma.h>
#include <stdint.h>

#define INLINE_SIZE 64 /* the most that a post copies, and the longest message */

/* private data of the target's answer, in the byte order of both */
struct rdma_offer {
	uint64_t remote_addr; /* of the target's volatile memory */
	uint32_t rkey;
};

/* a client's side */
struct rdma_connection {
	struct rdma_cm_id *id;
	struct ibv_mr *memory; /* source and destination of everything */
	uint64_t remote_addr;
	uint32_t rkey;
};

/* ends the program with a message and errno if rc is not 0 */
void check_rdma(const char *what, int rc);

/* an id whose flags are those of rdma_getaddrinfo(): RAI_PASSIVE for one that listens, else it may connect */
struct rdma_cm_id *create_rdma_id(const char *address, int port, int flags);

/* asks for an event when something completes */
void arm_rdma(struct ibv_cq *cq);

/* takes the event of a queue, which is there, and asks for the next */
void rearm_rdma(struct ibv_comp_channel *channel);

struct rdma_connection open_rdma_connection(const char *address, int port);

#endif
