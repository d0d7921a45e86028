/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.h -- the parts of the target, which one thread serves
 */
#ifndef RPMA_BENCH_TARGET_H
#define RPMA_BENCH_TARGET_H

struct target;

/* the function that serves a readable descriptor */
struct watch {
	void (*serve)(const struct target *target, void *subject);
	void *subject;
};

/* serves the descriptor from now on; the caller owns the watch, and must keep it as long as the descriptor is open */
void start_watch(const struct target *target, int fd, struct watch *watch);

/*
 * Accepts librdmacm's connections: at the port connections with messages, which it answers, and at the next port
 * connections without messages and with small queues.
 */
void listen_for_rdma(const struct target *target, const char *address, int port);

/* accepts TCP connections, and acknowledges each of their messages */
void listen_for_tcp(const struct target *target, const char *address, int port);

#endif
