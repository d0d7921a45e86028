/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * common.h -- common code of the benchmark programs: the clock, the memory, and the data that a target sends its
 * clients
 */
#ifndef RPMA_BENCH_COMMON_H
#define RPMA_BENCH_COMMON_H

#include <librpma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DESCRIPTOR_SIZE 21	 /* of a memory region */
#define MEMORY_SIZE (16UL << 20) /* of each memory region, and so the maximum of bytes that a client has under way */
#define QUEUE_SIZE 256		 /* of each queue of a connection */
#define SMALL_QUEUE_SIZE 16	 /* of each of many connections, which the target accepts at the next port */

/* private data of a target's answer */
struct offer {
	uint8_t dram[DESCRIPTOR_SIZE];
	uint8_t pmem[DESCRIPTOR_SIZE]; /* zeroes if there is none */
	uint8_t peer_cfg;
};

/* the time of CLOCK_MONOTONIC, which System.nanoTime() uses too */
uint64_t now_ns(void);

/* ends the program with a message if rc is not 0 */
void check(const char *what, int rc);

/* ends the program with a message and errno */
_Noreturn void fail(const char *what);

/* anonymous memory */
void *allocate(size_t size);

struct rpma_peer *open_peer(const char *address);

/* a configuration with send and receive queues of this size */
struct rpma_conn_cfg *new_conn_cfg(uint32_t queue_size);

/* ends the program unless the next event of the connection is the expected one */
void await_event(struct rpma_conn *conn, enum rpma_conn_event expected);

/* ends the program with a message if an operation has failed */
void check_status(const struct ibv_wc *completion);

/* sends librpma's errors to the standard error output */
void show_errors(void);

#endif
