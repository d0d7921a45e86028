/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma_target.c -- the target's side of librdmacm's connections; their memory permits atomics, because librpma
 * registers no memory for atomics
 */
#include <rdma/rdma_verbs.h>
#include <stdlib.h>

#include "common.h"
#include "rdma.h"
#include "target.h"

#define MESSAGES 128UL /* that a connection can have under way at a time */
#define COMPLETIONS 64

/* one connection */
struct rdma_end {
	struct rdma_cm_id *id;
	struct ibv_mr *messages;
	struct watch received;
};

/* the ids of one port */
struct rdma_listener {
	struct rdma_cm_id *id;
	uint64_t messages; /* receives that are posted before a connection is accepted */
	struct watch requests;
};

static struct ibv_mr *register_memory(const struct rdma_cm_id *id, size_t size, int access)
{
	struct ibv_mr *memory = ibv_reg_mr(id->pd, allocate(size), size, IBV_ACCESS_LOCAL_WRITE | access);
	if (memory == NULL)
		fail("ibv_reg_mr()");
	return memory;
}

static void *slot_of(const struct rdma_end *end, uint64_t message)
{
	return (char *)end->messages->addr + message * INLINE_SIZE;
}

static void receive(const struct rdma_end *end, uint64_t message)
{
	check_rdma("rdma_post_recv()", rdma_post_recv(end->id, (void *)(uintptr_t)message, slot_of(end, message),
						      INLINE_SIZE, end->messages));
}

/*
 * posts the receive of the next message, and then answers with the message's own bytes; ignores completions of answers
 */
static void answer(const struct rdma_end *end, const struct ibv_wc *received)
{
	struct ibv_wc sent[COMPLETIONS];
	receive(end, received->wr_id);
	if (ibv_poll_cq(end->id->send_cq, COMPLETIONS, sent) < 0)
		fail("ibv_poll_cq()");
	check_rdma("rdma_post_send()", rdma_post_send(end->id, NULL, slot_of(end, received->wr_id), received->byte_len,
						      end->messages, IBV_SEND_SIGNALED));
}

static void serve_messages(const struct target *target, void *subject)
{
	(void)target;
	const struct rdma_end *end = subject;
	struct ibv_wc completions[COMPLETIONS];
	int taken;
	rearm_rdma(end->id->recv_cq_channel);
	while ((taken = ibv_poll_cq(end->id->recv_cq, COMPLETIONS, completions)) > 0) {
		for (int i = 0; i < taken; i++) {
			check_status(&completions[i]);
			answer(end, &completions[i]);
		}
	}
	if (taken < 0)
		fail("ibv_poll_cq()");
}

static void accept_with(struct rdma_cm_id *id, const struct ibv_mr *offered)
{
	const struct rdma_offer offer = { (uintptr_t)offered->addr, offered->rkey };
	struct rdma_conn_param param = {
		.private_data = &offer,
		.private_data_len = sizeof(offer),
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.rnr_retry_count = 7,
	};
	check_rdma("rdma_accept()", rdma_accept(id, &param));
}

static void prepare_messages(const struct target *target, struct rdma_end *end, uint64_t count)
{
	end->messages = register_memory(end->id, count * INLINE_SIZE, 0);
	for (uint64_t message = 0; message < count; message++)
		receive(end, message);
	arm_rdma(end->id->recv_cq);
	end->received = (struct watch){ serve_messages, end };
	start_watch(target, end->id->recv_cq_channel->fd, &end->received);
}

/*
 * Waits for the end of the handshake. A connection stays open until the program ends. All connections share the offered
 * memory, because librdmacm gives the ids of a device one protection domain.
 */
static void serve_rdma_request(const struct target *target, void *subject)
{
	static struct ibv_mr *offered;
	const struct rdma_listener *listener = subject;
	struct rdma_end *end = calloc(1, sizeof(*end));
	if (end == NULL)
		fail("calloc()");
	check_rdma("rdma_get_request()", rdma_get_request(listener->id, &end->id));
	if (offered == NULL)
		offered = register_memory(end->id, MEMORY_SIZE,
					  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (listener->messages > 0)
		prepare_messages(target, end, listener->messages);
	accept_with(end->id, offered);
}

static void listen_with(const struct target *target, struct rdma_listener *listener, struct rdma_cm_id *id)
{
	listener->id = id;
	check_rdma("rdma_listen()", rdma_listen(id, 0));
	listener->requests = (struct watch){ serve_rdma_request, listener };
	start_watch(target, id->channel->fd, &listener->requests);
}

void listen_for_rdma(const struct target *target, const char *address, int port)
{
	static struct rdma_listener measured = { .messages = MESSAGES };
	static struct rdma_listener many;
	listen_with(target, &measured, create_rdma_id(address, port, RAI_PASSIVE, QUEUE_SIZE));
	listen_with(target, &many, create_rdma_id(address, port + 1, RAI_PASSIVE, SMALL_QUEUE_SIZE));
}
