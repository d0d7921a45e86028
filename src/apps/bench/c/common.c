/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * common.c -- common code of the benchmark programs
 */
#include "common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define NS_PER_S 1000000000ULL

uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void check(const char *what, int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s failed: %s\n", what, rpma_err_2str(rc));
	exit(EXIT_FAILURE);
}

void fail(const char *what)
{
	fprintf(stderr, "%s failed: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

void *allocate(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap()");
	return memory;
}

struct rpma_peer *open_peer(const char *address)
{
	struct ibv_context *context = NULL;
	struct rpma_peer *peer = NULL;
	check("rpma_utils_get_ibv_context()",
	      rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	check("rpma_peer_new()", rpma_peer_new(context, &peer));
	return peer;
}

struct rpma_conn_cfg *new_conn_cfg(uint32_t queue_size)
{
	struct rpma_conn_cfg *cfg = NULL;
	check("rpma_conn_cfg_new()", rpma_conn_cfg_new(&cfg));
	check("rpma_conn_cfg_set_sq_size()", rpma_conn_cfg_set_sq_size(cfg, queue_size));
	check("rpma_conn_cfg_set_rq_size()", rpma_conn_cfg_set_rq_size(cfg, queue_size));
	check("rpma_conn_cfg_set_cq_size()", rpma_conn_cfg_set_cq_size(cfg, 2 * queue_size));
	return cfg;
}

void await_event(struct rpma_conn *conn, enum rpma_conn_event expected)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	check("rpma_conn_next_event()", rpma_conn_next_event(conn, &event));
	if (event == expected)
		return;
	fprintf(stderr, "expected %s, and the connection is %s\n", rpma_utils_conn_event_2str(expected),
		rpma_utils_conn_event_2str(event));
	exit(EXIT_FAILURE);
}

void show_errors(void)
{
	check("rpma_log_set_threshold()", rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_ERROR));
}

void check_status(const struct ibv_wc *completion)
{
	if (completion->status == IBV_WC_SUCCESS)
		return;
	fprintf(stderr, "an operation failed: %s\n", ibv_wc_status_str(completion->status));
	exit(EXIT_FAILURE);
}
