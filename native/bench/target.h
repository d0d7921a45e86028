/*
 * target.h -- how the parts of the target are served by its one thread
 */
#ifndef RPMA_BENCH_TARGET_H
#define RPMA_BENCH_TARGET_H

struct target;

/* what there is to do when a descriptor is readable */
struct watch {
	void (*serve)(const struct target *target, void *subject);
	void *subject;
};

/* serves the descriptor from now on; the watch stays the caller's, and has to be there as long */
void start_watch(const struct target *target, int fd, struct watch *watch);

/* accepts connections of librdmacm at a port, and answers their messages */
void listen_for_rdma(const struct target *target, const char *address, int port);

#endif
