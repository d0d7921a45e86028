/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm_id.h -- the ids of the stand-in's connection manager. Callers hold the lock.
 */
#ifndef STANDIN_CM_ID_H
#define STANDIN_CM_ID_H

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include "standin.h"

/* As in rdma/rdma_cma.h, which can't be included beside the kernel's header. */
enum event {
	ADDR_RESOLVED_EVENT = 0,
	ADDR_ERROR_EVENT = 1,
	ROUTE_RESOLVED_EVENT = 2,
	CONNECT_REQUEST_EVENT = 4,
	CONNECT_RESPONSE_EVENT = 5,
	UNREACHABLE_EVENT = 7,
	REJECTED_EVENT = 8,
	ESTABLISHED_EVENT = 9,
	DISCONNECTED_EVENT = 10,
	TIMEWAIT_EXIT_EVENT = 15,
};

/* Rejection reasons of the InfiniBand specification. */
enum { INVALID_SERVICE = 8, CONSUMER_DEFINED = 28 };

enum state {
	IDLE,
	BOUND,
	ADDR_RESOLVED,
	ROUTE_RESOLVED,
	LISTENING,
	REQUEST_SENT,
	REQUEST_RECEIVED,
	REPLY_SENT,
	REPLY_RECEIVED,
	ESTABLISHED,
	DISCONNECT_SENT,
	DISCONNECT_RECEIVED,
	OVER
};

struct cm_file {
	int fd;
	struct cm_event *first;
	struct cm_event *last;
};

struct cm_id {
	uint32_t handle;
	/* librdmacm's pointer; 0 until an incoming connection is accepted */
	uint64_t uid;
	struct cm_file *file;
	enum state state;
	uint16_t port_space;
	uint8_t qp_type;
	bool has_device;
	bool has_path;
	bool owns_port;
	struct sockaddr_in src;
	struct sockaddr_in dst;
	struct cm_id *peer;
	uint32_t qp_num;
	struct rdma_ucm_conn_param param;
	uint32_t backlog;
	uint32_t events_reported;
	struct cm_id *next;
};

struct cm_event {
	struct rdma_ucm_event_resp resp;
	struct cm_id *id;
	/* the new id, if the event is a connection request */
	struct cm_id *fresh;
	struct cm_event *next;
};

/* All ids. */
extern struct cm_id *cm_ids;

struct cm_id *cm_find(uint32_t handle);

struct cm_id *cm_id_new(struct cm_file *file, uint16_t port_space, uint8_t qp_type);

/* Ends the id's connection, and frees the id and its events. */
void cm_id_destroy(struct cm_id *id);

/* Reports an event to an id, if user space knows the id; returns the event or NULL. */
struct cm_event *cm_push(struct cm_id *id, enum event type, int status);

void cm_push_with_data(struct cm_id *id, enum event type, int status, const uint8_t *data, size_t length, size_t field);

/* Sets the state of an id's peer and reports an event to the peer. OVER also separates the two ids. */
void cm_notify_peer(struct cm_id *id, enum event type, int status, enum state state);

/* Takes the first event of a file, which has one. */
struct cm_event *cm_take_first(struct cm_file *file);

/* Moves an id's events to another file or, if that is NULL, frees them and destroys the ids of unreported requests. */
void cm_move_events(struct cm_id *id, struct cm_file *to);

/* Reports to the peer, which asked for the disconnection, that this id has answered. */
void cm_answer_disconnection(struct cm_id *id);

/* Ends a connection. The id gets TIMEWAIT_EXIT later. */
void cm_end_connection(struct cm_id *id);

/* After this time, if the id's state has not changed by then, reports the timeout that belongs to the state. */
void cm_add_timer(const struct cm_id *id, uint32_t ms);

#endif
