/*
 * load.c -- what is measured of one connection: operations one after the other, or several under way
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define COMPLETIONS 16
#define NOT_COUNTED UINT64_MAX /* operation context of what is done only when its answer is there */

static const char *const names[OPERATIONS] = {
	[WRITE] = "write",
	[READ] = "read",
	[FLUSH_VISIBILITY] = "flush-visibility",
	[FLUSH_PERSISTENT] = "flush-persistent",
	[ATOMIC_WRITE] = "atomic-write",
	[SEND] = "send",
	[WRITE_WITH_IMM] = "write-with-imm",
};

enum operation operation_of(const char *name)
{
	int operation = 0;
	while (operation < OPERATIONS && strcmp(names[operation], name) != 0)
		operation++;
	return (enum operation)operation;
}

static void *context_of(uint64_t number)
{
	return (void *)(uintptr_t)number;
}

/* where the bytes of an operation are, on both sides */
static size_t offset_of(const struct load *load, uint64_t number)
{
	return number % load->depth * load->size % MEMORY_SIZE;
}

static void flush(const struct connection *connection, const struct load *load, uint64_t number,
		  struct rpma_mr_remote *remote, const struct rpma_mr_local *memory, enum rpma_flush_type type)
{
	size_t offset = offset_of(load, number);
	check("rpma_write()", rpma_write(connection->conn, remote, offset, memory, offset,
					 load->size, RPMA_F_COMPLETION_ON_ERROR, context_of(number)));
	check("rpma_flush()", rpma_flush(connection->conn, remote, offset, load->size, type,
					 RPMA_F_COMPLETION_ALWAYS, context_of(number)));
}

static void post(const struct client *client, const struct connection *connection, const struct load *load,
		 uint64_t number)
{
	size_t offset = offset_of(load, number);
	switch (load->operation) {
	case WRITE:
		check("rpma_write()", rpma_write(connection->conn, connection->dram, offset, client->memory, offset,
						 load->size, RPMA_F_COMPLETION_ALWAYS, context_of(number)));
		break;
	case READ:
		check("rpma_read()", rpma_read(connection->conn, client->memory, offset, connection->dram, offset,
					       load->size, RPMA_F_COMPLETION_ALWAYS, context_of(number)));
		break;
	case FLUSH_VISIBILITY:
		flush(connection, load, number, connection->dram, client->memory, RPMA_FLUSH_TYPE_VISIBILITY);
		break;
	case FLUSH_PERSISTENT:
		flush(connection, load, number, connection->pmem, client->memory, RPMA_FLUSH_TYPE_PERSISTENT);
		break;
	case ATOMIC_WRITE:
		check("rpma_atomic_write()", rpma_atomic_write(connection->conn, connection->dram, offset,
							       (const char *)&number, RPMA_F_COMPLETION_ALWAYS,
							       context_of(number)));
		break;
	case SEND:
		check("rpma_send()", rpma_send(connection->conn, client->memory, offset, load->size,
					       RPMA_F_COMPLETION_ALWAYS, context_of(NOT_COUNTED)));
		break;
	case WRITE_WITH_IMM:
		check("rpma_write_with_imm()", rpma_write_with_imm(connection->conn, connection->dram, offset,
								   client->memory, offset, load->size,
								   RPMA_F_COMPLETION_ALWAYS, (uint32_t)number,
								   context_of(NOT_COUNTED)));
		break;
	case OPERATIONS:
		break;
	}
}

static bool is_answered(const struct load *load)
{
	return load->operation == SEND || load->operation == WRITE_WITH_IMM;
}

static void receive(const struct client *client, const struct connection *connection, const struct load *load,
		    uint64_t number)
{
	check("rpma_recv()", rpma_recv(connection->conn, client->memory, offset_of(load, number), load->size,
				       context_of(number)));
}

/*
 * takes completions: at least one if the load waits. A poll that finds none gives the processor away: the work of
 * soft-RoCE may be waiting for this one, where there are few, and would wait for the end of a time slice.
 */
static int take(const struct connection *connection, const struct load *load, struct ibv_wc *completions)
{
	int taken = 0;
	int rc = rpma_cq_get_wc(connection->cq, COMPLETIONS, completions, &taken);
	while (rc == RPMA_E_NO_COMPLETION && load->waits) {
		check("rpma_cq_wait()", rpma_cq_wait(connection->cq));
		rc = rpma_cq_get_wc(connection->cq, COMPLETIONS, completions, &taken);
	}
	if (rc == RPMA_E_NO_COMPLETION) {
		sched_yield();
		return 0;
	}
	check("rpma_cq_get_wc()", rc);
	return taken;
}

static void check_status(const struct ibv_wc *completion)
{
	if (completion->status == IBV_WC_SUCCESS)
		return;
	fprintf(stderr, "an operation failed: %s\n", ibv_wc_status_str(completion->status));
	exit(EXIT_FAILURE);
}

uint64_t run_load(const struct client *client, const struct connection *connection, const struct load *load,
		  uint64_t *samples)
{
	struct ibv_wc completions[COMPLETIONS];
	uint64_t posted = 0;
	uint64_t done = 0;
	uint64_t received = 0;
	bool answered = is_answered(load);
	uint64_t start = now_ns();
	uint64_t last = start;
	while (done < load->count) {
		for (; posted < load->count && posted - done < load->depth; posted++) {
			if (answered)
				receive(client, connection, load, received++);
			post(client, connection, load, posted);
		}
		int taken = take(connection, load, completions);
		for (int i = 0; i < taken; i++) {
			check_status(&completions[i]);
			if (completions[i].wr_id == NOT_COUNTED)
				continue;
			if (samples != NULL) {
				uint64_t now = now_ns();
				samples[done] = now - last;
				last = now;
			}
			done++;
		}
	}
	return now_ns() - start;
}
