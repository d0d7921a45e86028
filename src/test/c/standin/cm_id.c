/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm_id.c -- the ids of the stand-in's connection manager: their events, their connections and their timers
 */
#include "cm_id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The time for late packets after the end of a connection. */
enum { TIMEWAIT_MS = 50 };

struct timer {
	struct timespec at;
	uint32_t handle;
	enum state state;
	struct timer *next;
};

struct cm_id *cm_ids;
static uint32_t last_handle;

static struct timer *timers;
static pthread_cond_t timer_added;
static bool timer_runs;

struct cm_id *cm_find(uint32_t handle)
{
	struct cm_id *id = cm_ids;
	while (id != NULL && id->handle != handle)
		id = id->next;
	return id;
}

struct cm_id *cm_id_new(struct cm_file *file, uint16_t port_space, uint8_t qp_type)
{
	struct cm_id *id = object_new(CM_ID, sizeof(*id));
	id->handle = ++last_handle;
	id->file = file;
	id->port_space = port_space;
	id->qp_type = qp_type;
	id->next = cm_ids;
	cm_ids = id;
	return id;
}

static void append(struct cm_file *file, struct cm_event *event)
{
	event->next = NULL;
	if (file->first == NULL) {
		file->first = event;
		ready_set(file->fd);
	} else {
		file->last->next = event;
	}
	file->last = event;
}

struct cm_event *cm_take_first(struct cm_file *file)
{
	struct cm_event *event = file->first;
	file->first = event->next;
	if (file->first == NULL)
		ready_clear(file->fd);
	return event;
}

struct cm_event *cm_push(struct cm_id *id, enum event type, int status)
{
	/* Until user space accepts a connection, it gets no events of the connection. */
	if (id->uid == 0)
		return NULL;
	struct cm_event *event = object_new(CM_EVENT, sizeof(*event));
	event->resp.uid = id->uid;
	event->resp.id = id->handle;
	event->resp.event = type;
	event->resp.status = (uint32_t)status;
	event->id = id;
	append(id->file, event);
	return event;
}

void cm_notify_listeners(uint32_t type)
{
	lock();
	for (struct cm_id *id = cm_ids; id != NULL; id = id->next) {
		if (id->state == LISTENING)
			cm_push(id, (enum event)type, 0);
	}
	unlock();
}

void cm_push_with_data(struct cm_id *id, enum event type, int status, const uint8_t *data, size_t length, size_t field)
{
	struct cm_event *event = cm_push(id, type, status);
	if (event == NULL)
		return;
	/* The receiver gets the message's whole field, even if the sender filled only a part. */
	event->resp.param.conn.private_data_len = (uint8_t)field;
	if (length > 0)
		memcpy(event->resp.param.conn.private_data, data, length);
}

void cm_notify_peer(struct cm_id *id, enum event type, int status, enum state state)
{
	struct cm_id *peer = id->peer;
	if (peer == NULL)
		return;
	peer->state = state;
	if (state == OVER) {
		peer->peer = NULL;
		id->peer = NULL;
	}
	cm_push(peer, type, status);
}

void cm_move_events(struct cm_id *id, struct cm_file *to)
{
	struct cm_file *from = id->file;
	struct cm_event *last = from->last;
	for (bool more = from->first != NULL; more;) {
		struct cm_event *event = cm_take_first(from);
		more = event != last;
		if (event->id != id) {
			append(from, event);
		} else if (to != NULL) {
			append(to, event);
		} else {
			struct cm_id *fresh = event->fresh;
			object_free(event, CM_EVENT, "rdma_destroy_id");
			if (fresh != NULL)
				cm_id_destroy(fresh);
		}
	}
}

void cm_answer_disconnection(struct cm_id *id)
{
	struct cm_id *peer = id->peer;
	if (peer == NULL)
		return;
	cm_notify_peer(id, DISCONNECTED_EVENT, 0, OVER);
	cm_end_connection(peer);
}

void cm_id_destroy(struct cm_id *id)
{
	switch (id->state) {
	case REQUEST_SENT:
	case REPLY_RECEIVED:
	case REQUEST_RECEIVED:
	case REPLY_SENT:
		cm_notify_peer(id, id->qp_type == IBV_QPT_UD ? UNREACHABLE_EVENT : REJECTED_EVENT, CONSUMER_DEFINED,
			       OVER);
		break;
	case ESTABLISHED:
		if (id->qp_type != IBV_QPT_UD)
			cm_notify_peer(id, DISCONNECTED_EVENT, 0, DISCONNECT_RECEIVED);
		break;
	case DISCONNECT_RECEIVED:
		cm_answer_disconnection(id);
		break;
	default:
		break;
	}
	if (id->peer != NULL)
		id->peer->peer = NULL;
	cm_move_events(id, NULL);
	struct cm_id **link = &cm_ids;
	while (*link != id)
		link = &(*link)->next;
	*link = id->next;
	object_free(id, CM_ID, "rdma_destroy_id");
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

void cm_end_connection(struct cm_id *id)
{
	id->state = OVER;
	cm_add_timer(id, TIMEWAIT_MS);
}

static void time_out(uint32_t handle, enum state state)
{
	struct cm_id *id = cm_find(handle);
	if (id == NULL || id->state != state)
		return;
	if (state == DISCONNECT_SENT) {
		cm_push(id, DISCONNECTED_EVENT, 0);
		cm_end_connection(id);
	} else if (state == OVER) {
		cm_push(id, TIMEWAIT_EXIT_EVENT, 0);
	} else {
		cm_push(id, ADDR_ERROR_EVENT, -ETIMEDOUT);
	}
}

static void *run_timers(void *unused)
{
	(void)unused;
	lock();
	while (true) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		struct timer *first = timers;
		if (first == NULL) {
			pthread_cond_wait(&timer_added, &big_lock);
		} else if (is_before(&now, &first->at)) {
			struct timespec until = first->at;
			pthread_cond_timedwait(&timer_added, &big_lock, &until);
		} else {
			timers = first->next;
			time_out(first->handle, first->state);
			free(first);
		}
	}
	return NULL;
}

static void start_timers(void)
{
	pthread_t thread;
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&timer_added, &monotonic);
	if (pthread_create(&thread, NULL, run_timers, NULL) != 0)
		die("can't start a thread");
	pthread_detach(thread);
	timer_runs = true;
}

void cm_add_timer(const struct cm_id *id, uint32_t ms)
{
	if (!timer_runs)
		start_timers();
	struct timer *timer = calloc(1, sizeof(*timer));
	if (timer == NULL)
		die("no memory for a timer");
	clock_gettime(CLOCK_MONOTONIC, &timer->at);
	timer->at.tv_sec += ms / 1000;
	timer->at.tv_nsec += ms % 1000 * 1000000L;
	if (timer->at.tv_nsec >= 1000000000) {
		timer->at.tv_nsec -= 1000000000;
		timer->at.tv_sec++;
	}
	timer->handle = id->handle;
	timer->state = id->state;
	struct timer **link = &timers;
	while (*link != NULL && !is_before(&timer->at, &(*link)->at))
		link = &(*link)->next;
	timer->next = *link;
	*link = timer;
	pthread_cond_signal(&timer_added);
}
