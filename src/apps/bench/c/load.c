/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load.c -- the load of one connection: operations one after the other, or several under way
 */
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "tcp.h"

#define CAPACITY 16
#define MOST_CHAINED 16
#define NOT_COUNTED UINT64_MAX /* operation context of a message, which only its answer completes */

static const char *const names[OPERATIONS] = {
	[WRITE] = "write",
	[READ] = "read",
	[FLUSH_VISIBILITY] = "flush-visibility",
	[FLUSH_PERSISTENT] = "flush-persistent",
	[ATOMIC_WRITE] = "atomic-write",
	[SEND] = "send",
	[WRITE_WITH_IMM] = "write-with-imm",
	[RDMA_WRITE] = "rdma-write",
	[RDMA_WRITE_INLINE] = "rdma-write-inline",
	[RDMA_WRITE_CHAINED] = "rdma-write-chained",
	[RDMA_READ] = "rdma-read",
	[RDMA_SEND] = "rdma-send",
	[RDMA_FETCH_AND_ADD] = "rdma-fetch-and-add",
	[TCP] = "tcp",
};

static const char *const ways[COMPLETIONS] = {
	[POLL] = "poll",
	[WAIT] = "wait",
	[BLOCK] = "block",
};

/* the index of a name, or count */
static int find(const char *const *all, int count, const char *name)
{
	int place = 0;
	while (place < count && strcmp(all[place], name) != 0)
		place++;
	return place;
}

enum operation operation_of(const char *name)
{
	return (enum operation)find(names, OPERATIONS, name);
}

enum completions completions_of(const char *name)
{
	return (enum completions)find(ways, COMPLETIONS, name);
}

static void *context_of(uint64_t number)
{
	return (void *)(uintptr_t)number;
}

/* the offset of an operation's bytes, on both sides */
static size_t offset_of(const struct load *load, uint64_t number)
{
	return number % load->depth * load->size % MEMORY_SIZE;
}

static void flush(const struct connection *connection, const struct load *load, uint64_t number,
		  struct rpma_mr_remote *remote, const struct rpma_mr_local *memory, enum rpma_flush_type type)
{
	size_t offset = offset_of(load, number);
	check("rpma_write()", rpma_write(connection->conn, remote, offset, memory, offset, load->size,
					 RPMA_F_COMPLETION_ON_ERROR, context_of(number)));
	check("rpma_flush()", rpma_flush(connection->conn, remote, offset, load->size, type, RPMA_F_COMPLETION_ALWAYS,
					 context_of(number)));
}

/* librdmacm has no helper for this operation */
static void post_fetch_and_add(const struct rdma_connection *rdma, size_t offset, uint64_t number)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)rdma->memory->addr + offset,
		.length = sizeof(uint64_t),
		.lkey = rdma->memory->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = number,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = rdma->remote_addr + offset, .rkey = rdma->rkey, .compare_add = 1 },
	};
	struct ibv_send_wr *bad = NULL;
	check_rdma("ibv_post_send()", ibv_post_send(rdma->id->qp, &wr, &bad));
}

/*
 * the number of operations in the next post: half of the depth in a chain, so that one chain is under way during the
 * post
 */
static uint64_t length_of_post(const struct load *load, uint64_t posted)
{
	uint64_t length = load->depth / 2 < MOST_CHAINED ? load->depth / 2 : MOST_CHAINED;
	if (load->operation != RDMA_WRITE_CHAINED)
		return 1;
	return length < load->count - posted ? length : load->count - posted;
}

/* the context of the last write, which alone has a completion, is the length of the chain */
static void post_chain(const struct rdma_connection *rdma, const struct load *load, uint64_t first, uint64_t length)
{
	struct ibv_sge sges[MOST_CHAINED];
	struct ibv_send_wr wrs[MOST_CHAINED];
	struct ibv_send_wr *bad = NULL;
	for (uint64_t i = 0; i < length; i++) {
		bool last = i + 1 == length;
		size_t offset = offset_of(load, first + i);
		sges[i] = (struct ibv_sge){ (uintptr_t)rdma->memory->addr + offset, (uint32_t)load->size,
					    rdma->memory->lkey };
		wrs[i].wr_id = length;
		wrs[i].next = last ? NULL : &wrs[i + 1];
		wrs[i].sg_list = &sges[i];
		wrs[i].num_sge = 1;
		wrs[i].opcode = IBV_WR_RDMA_WRITE;
		wrs[i].send_flags = last ? IBV_SEND_SIGNALED : 0;
		wrs[i].wr.rdma.remote_addr = rdma->remote_addr + offset;
		wrs[i].wr.rdma.rkey = rdma->rkey;
	}
	check_rdma("ibv_post_send()", ibv_post_send(rdma->id->qp, wrs, &bad));
}

static void post_rdma(const struct rdma_connection *rdma, const struct load *load, uint64_t number)
{
	static char inline_data[INLINE_SIZE];
	size_t offset = offset_of(load, number);
	char *memory = (char *)rdma->memory->addr + offset;
	if (load->operation == RDMA_WRITE)
		check_rdma("rdma_post_write()",
			   rdma_post_write(rdma->id, context_of(number), memory, load->size, rdma->memory,
					   IBV_SEND_SIGNALED, rdma->remote_addr + offset, rdma->rkey));
	else if (load->operation == RDMA_WRITE_INLINE)
		check_rdma("rdma_post_write()", rdma_post_write(rdma->id, context_of(number), inline_data, load->size,
								NULL, IBV_SEND_SIGNALED | IBV_SEND_INLINE,
								rdma->remote_addr + offset, rdma->rkey));
	else if (load->operation == RDMA_READ)
		check_rdma("rdma_post_read()",
			   rdma_post_read(rdma->id, context_of(number), memory, load->size, rdma->memory,
					  IBV_SEND_SIGNALED, rdma->remote_addr + offset, rdma->rkey));
	else if (load->operation == RDMA_FETCH_AND_ADD)
		post_fetch_and_add(rdma, offset, number);
	else
		check_rdma("rdma_post_send()", rdma_post_send(rdma->id, context_of(NOT_COUNTED), memory, load->size,
							      rdma->memory, IBV_SEND_SIGNALED));
}

static void send_message(const struct client *client, const struct load *load, size_t offset)
{
	void *memory = NULL;
	check("rpma_mr_get_ptr()", rpma_mr_get_ptr(client->memory, &memory));
	send_tcp(client->tcp, (const char *)memory + offset, load->size);
}

void post_operation(const struct client *client, const struct connection *connection, const struct load *load,
		    uint64_t number)
{
	size_t offset = offset_of(load, number);
	switch (load->operation) {
	case TCP:
		send_message(client, load, offset);
		break;
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
		check("rpma_atomic_write()",
		      rpma_atomic_write(connection->conn, connection->dram, offset, (const char *)&number,
					RPMA_F_COMPLETION_ALWAYS, context_of(number)));
		break;
	case SEND:
		check("rpma_send()", rpma_send(connection->conn, client->memory, offset, load->size,
					       RPMA_F_COMPLETION_ALWAYS, context_of(NOT_COUNTED)));
		break;
	case WRITE_WITH_IMM:
		check("rpma_write_with_imm()",
		      rpma_write_with_imm(connection->conn, connection->dram, offset, client->memory, offset,
					  load->size, RPMA_F_COMPLETION_ALWAYS, (uint32_t)number,
					  context_of(NOT_COUNTED)));
		break;
	default:
		post_rdma(&client->rdma, load, number);
		break;
	}
}

static bool is_answered(const struct load *load)
{
	return load->operation == SEND || load->operation == WRITE_WITH_IMM || load->operation == RDMA_SEND;
}

void receive_answer(const struct client *client, const struct connection *connection, const struct load *load,
		    uint64_t number)
{
	const struct rdma_connection *rdma = &client->rdma;
	if (is_rdmacm(load->operation))
		check_rdma("rdma_post_recv()", rdma_post_recv(rdma->id, context_of(number),
							      (char *)rdma->memory->addr + offset_of(load, number),
							      load->size, rdma->memory));
	else
		check("rpma_recv()", rpma_recv(connection->conn, client->memory, offset_of(load, number), load->size,
					       context_of(number)));
}

/* waits for a completion; the client's eventfds could end the wait too, but nothing writes to them */
static void wait_readable(const struct client *client, int fd)
{
	struct pollfd fds[] = { { fd, POLLIN, 0 },
				{ client->end_fds[0], POLLIN, 0 },
				{ client->end_fds[1], POLLIN, 0 } };
	if (ppoll(fds, 3, NULL, NULL) < 0)
		fail("ppoll()");
}

static int poll_rdma(struct ibv_cq *cq, struct ibv_wc *completions)
{
	int taken = ibv_poll_cq(cq, CAPACITY, completions);
	if (taken < 0)
		fail("ibv_poll_cq()");
	return taken;
}

static int wait_rdma(const struct client *client, struct ibv_cq *cq, struct ibv_comp_channel *channel,
		     struct ibv_wc *completions)
{
	int taken = poll_rdma(cq, completions);
	while (taken == 0) {
		wait_readable(client, channel->fd);
		rearm_rdma(channel);
		taken = poll_rdma(cq, completions);
	}
	return taken;
}

/* an answer completes in the receive queue, after its message, so a wait for answers waits only for that queue */
static int take_rdma(const struct client *client, const struct load *load, struct ibv_wc *completions)
{
	const struct rdma_cm_id *id = client->rdma.id;
	bool waits = load->completions != POLL;
	if (waits && !is_answered(load))
		return wait_rdma(client, id->send_cq, id->send_cq_channel, completions);
	int taken = poll_rdma(id->send_cq, completions);
	if (taken > 0)
		return taken;
	return waits ? wait_rdma(client, id->recv_cq, id->recv_cq_channel, completions)
		     : poll_rdma(id->recv_cq, completions);
}

static void wait_rpma(const struct client *client, const struct connection *connection)
{
	int fd = -1;
	check("rpma_cq_get_fd()", rpma_cq_get_fd(connection->cq, &fd));
	wait_readable(client, fd);
}

static int take_rpma(const struct client *client, const struct connection *connection, const struct load *load,
		     struct ibv_wc *completions)
{
	int taken = 0;
	int rc = rpma_cq_get_wc(connection->cq, CAPACITY, completions, &taken);
	while (rc == RPMA_E_NO_COMPLETION && load->completions != POLL) {
		if (load->completions == WAIT)
			wait_rpma(client, connection);
		check("rpma_cq_wait()", rpma_cq_wait(connection->cq));
		rc = rpma_cq_get_wc(connection->cq, CAPACITY, completions, &taken);
	}
	if (rc == RPMA_E_NO_COMPLETION)
		return 0;
	check("rpma_cq_get_wc()", rc);
	return taken;
}

/*
 * A poll that finds no completion yields the processor: with few processors, soft-RoCE's own work may need this
 * processor, and would otherwise wait until the end of the time slice.
 */
unsigned take_completions(const struct client *client, const struct connection *connection, const struct load *load)
{
	struct ibv_wc completions[CAPACITY];
	unsigned counted = 0;
	if (load->operation == TCP)
		return take_acknowledgments(client->tcp);
	int taken = is_rdmacm(load->operation) ? take_rdma(client, load, completions)
					       : take_rpma(client, connection, load, completions);
	if (taken == 0)
		sched_yield();
	for (int i = 0; i < taken; i++) {
		check_status(&completions[i]);
		if (load->operation == RDMA_WRITE_CHAINED)
			counted += (unsigned)completions[i].wr_id;
		else if (completions[i].wr_id != NOT_COUNTED)
			counted++;
	}
	return counted;
}

uint64_t run_load(const struct client *client, const struct connection *connection, const struct load *load,
		  uint64_t *samples)
{
	uint64_t posted = 0;
	uint64_t done = 0;
	uint64_t received = 0;
	bool answered = is_answered(load);
	uint64_t start = now_ns();
	uint64_t last = start;
	while (done < load->count) {
		while (posted < load->count) {
			uint64_t length = length_of_post(load, posted);
			if (posted - done + length > load->depth)
				break;
			if (answered)
				receive_answer(client, connection, load, received++);
			if (load->operation == RDMA_WRITE_CHAINED)
				post_chain(&client->rdma, load, posted, length);
			else
				post_operation(client, connection, load, posted);
			posted += length;
		}
		for (unsigned counted = take_completions(client, connection, load); counted > 0; counted--) {
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
