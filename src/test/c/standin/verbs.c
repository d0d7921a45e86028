/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbs.c -- the device of the stand-in: protection domains, memory regions, completion queues and their channels
 */
#include "standin.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The limit for all regions together, so that a test can't use up the machine's memory. */
#define MOST_PINNED ((size_t)1 << 30)

enum { VENDOR_ID = 0x123456 };

enum { MOST_CQE = 32767, MOST_WR = 16384 };

uint64_t node_guid = 0x0000000000524d41ULL;

static struct ibv_device device = {
	.node_type = IBV_NODE_CA,
	.transport_type = IBV_TRANSPORT_IB,
	.name = "standin0",
	.dev_name = "standin0",
};

static int poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wcs);
static int req_notify_cq(struct ibv_cq *cq, int solicited_only);
static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* A context without the extended operations: callers fall back to the operations here. */
struct ibv_context context = {
		.device = &device,
		.cmd_fd = -1,
		.async_fd = -1,
		.num_comp_vectors = 1,
		.mutex = PTHREAD_MUTEX_INITIALIZER,
		.ops = {
				.poll_cq = poll_cq,
				.req_notify_cq = req_notify_cq,
				.post_srq_recv = post_srq_recv,
				.post_send = qp_post_send,
				.post_recv = qp_post_recv,
		},
};

static void *failed(int error)
{
	errno = error;
	return NULL;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	int error = fault("ibv_get_device_list");
	if (error != 0)
		return failed(error);
	struct ibv_device **list = calloc(2, sizeof(*list));
	if (list == NULL)
		return failed(ENOMEM);
	list[0] = &device;
	if (count != NULL)
		*count = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *of)
{
	return of->name;
}

__be64 ibv_get_device_guid(struct ibv_device *of)
{
	(void)of;
	return htobe64(node_guid);
}

int ibv_get_device_index(struct ibv_device *of)
{
	(void)of;
	return 1;
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
	(void)of;
	int error = fault("ibv_open_device");
	return error != 0 ? failed(error) : &context;
}

int ibv_close_device(struct ibv_context *of)
{
	(void)of;
	return 0;
}

int ibv_query_device(struct ibv_context *of, struct ibv_device_attr *attr)
{
	int error = fault("ibv_query_device");
	if (error != 0)
		return error;
	(void)of;
	*attr = (struct ibv_device_attr){
		.fw_ver = "1.0 of the stand-in",
		.node_guid = htobe64(node_guid),
		.vendor_id = VENDOR_ID,
		.vendor_part_id = 7,
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffff000,
		.max_qp = object_most(QP),
		.max_qp_wr = MOST_WR,
		.max_sge = MOST_SGE,
		.max_cq = object_most(CQ),
		.max_cqe = MOST_CQE,
		.max_mr = object_most(MR),
		.max_ah = object_most(AH),
		.max_pd = object_most(PD),
		.max_qp_rd_atom = 128,
		.max_qp_init_rd_atom = 128,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_srq = object_most(SRQ),
		.max_srq_wr = MOST_WR,
		.max_srq_sge = MOST_SGE,
		.max_pkeys = 1,
		.phys_port_cnt = 1,
	};
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *of, uint8_t port, struct _compat_ibv_port_attr *attr);
int ibv_query_port(struct ibv_context *of, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	(void)of;
	int error = fault("ibv_query_port");
	if (error == 0 && port != 1)
		error = EINVAL;
	if (error != 0)
		return error;
	struct ibv_port_attr *known = (struct ibv_port_attr *)attr;
	known->state = IBV_PORT_ACTIVE;
	known->max_mtu = IBV_MTU_4096;
	known->active_mtu = IBV_MTU_1024;
	known->gid_tbl_len = 1;
	known->max_msg_sz = 0x800000;
	known->pkey_tbl_len = 1;
	known->link_layer = IBV_LINK_LAYER_ETHERNET;
	return 0;
}

int ibv_query_gid(struct ibv_context *of, uint8_t port, int index, union ibv_gid *gid)
{
	(void)of;
	(void)port;
	(void)index;
	int error = fault("ibv_query_gid");
	if (error != 0) {
		errno = error;
		return -1;
	}
	memset(gid, 0, sizeof(*gid));
	return 0;
}

/* One entry, whose network interface is the first one of the machine: the loopback interface. */
ssize_t _ibv_query_gid_table(struct ibv_context *of, struct ibv_gid_entry *entries, size_t room, uint32_t flags,
			     size_t size)
{
	(void)of;
	(void)flags;
	int error = fault("ibv_query_gid_table");
	if (error == 0 && (room < 1 || size != sizeof(*entries)))
		error = EINVAL;
	if (error != 0)
		return -error;
	entries[0] = (struct ibv_gid_entry){ .port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V2, .ndev_ifindex = 1 };
	return 1;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *of)
{
	int error = fault("ibv_alloc_pd");
	if (error == 0)
		error = object_room(PD);
	if (error != 0)
		return failed(error);
	struct pd *pd = object_new(PD, sizeof(*pd));
	pd->public.context = of;
	return &pd->public;
}

int ibv_dealloc_pd(struct ibv_pd *public)
{
	object_check(public, PD, "ibv_dealloc_pd");
	int error = fault("ibv_dealloc_pd");
	if (error != 0)
		return error;
	struct pd *pd = object_lock(public, PD, "ibv_dealloc_pd");
	int result = pd->users == 0 ? 0 : EBUSY;
	if (result == 0)
		object_free(pd, PD, "ibv_dealloc_pd");
	unlock();
	return result;
}

/* Regions by the low bits of their keys. Keys are never reused. */
enum { BUCKETS = 4096 };
static struct mr *regions[BUCKETS];
static uint32_t last_key = 0x1000;

static struct mr *find_region(uint32_t key)
{
	struct mr *mr = regions[key % BUCKETS];
	while (mr != NULL && mr->public.lkey != key)
		mr = mr->next;
	return mr;
}

bool mr_allows_locked(uint32_t key, uint64_t addr, uint64_t length, int access, const struct ibv_pd *pd)
{
	const struct mr *mr = find_region(key);
	if (mr == NULL || mr->public.pd != pd || (mr->access & access) != access)
		return false;
	uint64_t begin = (uint64_t)(uintptr_t)mr->public.addr;
	return addr >= begin && length <= mr->public.length && addr - begin <= mr->public.length - length;
}

static size_t pinned;

static bool may_pin(size_t length)
{
	lock();
	bool may = length <= MOST_PINNED - pinned;
	if (may)
		pinned += length;
	unlock();
	return may;
}

static void unpin(size_t length)
{
	lock();
	pinned -= length;
	unlock();
}

/* Brings the pages into memory, as pinning does. */
static int pin(void *addr, size_t length, int access)
{
	const uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t begin = (uintptr_t)addr & ~mask;
	uintptr_t end;
	if (__builtin_add_overflow((uintptr_t)addr, length + mask, &end))
		return EINVAL;
	if (!may_pin(length))
		return ENOMEM;
	bool writes = (access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)) != 0;
	if (madvise((void *)begin, (end & ~mask) - begin, writes ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) != 0) {
		/* before Linux 5.14 this advice is invalid, and the pages come into memory when they are used */
		int cause = errno == EINVAL ? 0 : errno == ENOMEM ? EFAULT : errno;
		if (cause != 0)
			unpin(length);
		return cause;
	}
	return 0;
}

static struct ibv_mr *reg_mr(struct ibv_pd *public, void *addr, size_t length, int access)
{
	object_check(public, PD, "ibv_reg_mr");
	int error = fault("ibv_reg_mr");
	if (error == 0 && (access & IBV_ACCESS_ON_DEMAND) != 0)
		error = EOPNOTSUPP;
	if (error == 0 && (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0 &&
	    (access & IBV_ACCESS_LOCAL_WRITE) == 0)
		error = EINVAL;
	if (error == 0)
		error = object_room(MR);
	if (error == 0)
		error = pin(addr, length, access);
	if (error != 0)
		return failed(error);
	struct mr *mr = object_new(MR, sizeof(*mr));
	mr->public.context = public->context;
	mr->public.pd = public;
	mr->public.addr = addr;
	mr->public.length = length;
	mr->access = access;
	struct pd *pd = object_lock(public, PD, "ibv_reg_mr");
	mr->public.lkey = mr->public.rkey = ++last_key;
	mr->next = regions[last_key % BUCKETS];
	regions[last_key % BUCKETS] = mr;
	pd->users++;
	unlock();
	return &mr->public;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg_mr(pd, addr, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	if (iova != (uintptr_t)addr)
		die("ibv_reg_mr_iova2: %#llx is not the address", (unsigned long long)iova);
	return reg_mr(pd, addr, length, (int)access & ~IBV_ACCESS_OPTIONAL_RANGE);
}

int ibv_dereg_mr(struct ibv_mr *public)
{
	struct mr *mr = object_check(public, MR, "ibv_dereg_mr");
	/* A device either deregisters a region at once or reports a failure, never both. */
	int error = fault("ibv_dereg_mr");
	if (error != 0)
		return error;
	object_lock(public, MR, "ibv_dereg_mr");
	struct mr **link = &regions[public->lkey % BUCKETS];
	while (*link != mr)
		link = &(*link)->next;
	*link = mr->next;
	((struct pd *)public->pd)->users--;
	pinned -= public->length;
	object_free(mr, MR, "ibv_dereg_mr");
	unlock();
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *of)
{
	int error = fault("ibv_create_comp_channel");
	if (error != 0)
		return failed(error);
	int fd = ready_open();
	if (fd < 0)
		return NULL;
	struct channel *channel = object_new(CHANNEL, sizeof(*channel));
	channel->public.context = of;
	channel->public.fd = fd;
	return &channel->public;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *public)
{
	object_check(public, CHANNEL, "ibv_destroy_comp_channel");
	int error = fault("ibv_destroy_comp_channel");
	if (error != 0)
		return error;
	object_lock(public, CHANNEL, "ibv_destroy_comp_channel");
	int result = public->refcnt > 0 ? EBUSY : 0;
	int fd = public->fd;
	if (result == 0)
		object_free(public, CHANNEL, "ibv_destroy_comp_channel");
	unlock();
	if (result == 0)
		close(fd);
	return result;
}

static void channel_push(struct channel *channel, struct cq *cq)
{
	if (cq->events++ > 0)
		return;
	if (channel->first == NULL) {
		channel->first = cq;
		ready_set(channel->public.fd);
	} else {
		channel->last->next = cq;
	}
	channel->last = cq;
	cq->next = NULL;
}

static void channel_remove(struct channel *channel, struct cq *cq)
{
	struct cq *before = NULL;
	for (struct cq *each = channel->first; each != cq; each = each->next)
		before = each;
	if (before == NULL)
		channel->first = cq->next;
	else
		before->next = cq->next;
	if (channel->last == cq)
		channel->last = before;
	cq->events = 0;
	if (channel->first == NULL)
		ready_clear(channel->public.fd);
}

/* Takes an event of the channel's first queue; the caller holds the lock. */
int channel_pop(struct channel *channel, struct cq **cq)
{
	struct cq *first = channel->first;
	if (first == NULL)
		return EAGAIN;
	*cq = first;
	if (--first->events == 0)
		channel_remove(channel, first);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *of, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int vector)
{
	int error = fault("ibv_create_cq");
	if (error == 0 && (cqe < 1 || cqe > MOST_CQE || vector != 0))
		error = EINVAL;
	if (error == 0)
		error = object_room(CQ);
	if (error != 0)
		return failed(error);
	struct cq *cq = object_new(CQ, sizeof(*cq));
	cq->ring = calloc((size_t)cqe, sizeof(*cq->ring));
	if (cq->ring == NULL) {
		object_free(cq, CQ, "ibv_create_cq");
		return failed(ENOMEM);
	}
	cq->size = (uint32_t)cqe;
	cq->public.context = of;
	cq->public.channel = channel;
	cq->public.cq_context = cq_context;
	cq->public.cqe = cqe;
	cq->channel = (struct channel *)channel;
	pthread_mutex_init(&cq->public.mutex, NULL);
	pthread_cond_init(&cq->public.cond, NULL);
	if (channel != NULL) {
		object_lock(channel, CHANNEL, "ibv_create_cq");
		channel->refcnt++;
		unlock();
	}
	return &cq->public;
}

static int event_pipe[2] = { -1, -1 };

__attribute__((constructor)) static void open_events(void)
{
	if (pipe2(event_pipe, O_CLOEXEC) == 0)
		context.async_fd = event_pipe[0];
}

/* a port is the number of a port, for events of ports */
void standin_device_event(int type, int port)
{
	struct ibv_async_event event = { .event_type = (enum ibv_event_type)type };
	event.element.port_num = port;
	ssize_t written = write(event_pipe[1], &event, sizeof(event));
	if (written != sizeof(event))
		abort();
}

int ibv_get_async_event(struct ibv_context *of, struct ibv_async_event *event)
{
	int error = fault("ibv_get_async_event");
	if (error == 0 && read(of->async_fd, event, sizeof(*event)) == sizeof(*event))
		return 0;
	errno = error == 0 ? errno : error;
	return -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

int ibv_destroy_cq(struct ibv_cq *public)
{
	object_check(public, CQ, "ibv_destroy_cq");
	int error = fault("ibv_destroy_cq");
	if (error != 0)
		return error;
	struct cq *cq = object_lock(public, CQ, "ibv_destroy_cq");
	if (cq->users > 0) {
		unlock();
		return EBUSY;
	}
	if (cq->channel != NULL) {
		if (cq->events > 0)
			channel_remove(cq->channel, cq);
		cq->channel->public.refcnt--;
	}
	/* Like libibverbs, waits until all events taken are acknowledged. */
	uint32_t taken = public->async_events_completed;
	unlock();
	pthread_mutex_lock(&public->mutex);
	while (public->comp_events_completed != taken)
		pthread_cond_wait(&public->cond, &public->mutex);
	pthread_mutex_unlock(&public->mutex);
	free(cq->ring);
	object_free(cq, CQ, "ibv_destroy_cq");
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *public, struct ibv_cq **cq, void **cq_context)
{
	int error = fault("ibv_get_cq_event");
	while (error == 0) {
		struct channel *channel = object_lock(public, CHANNEL, "ibv_get_cq_event");
		struct cq *ready;
		error = channel_pop(channel, &ready);
		if (error == 0) {
			*cq = &ready->public;
			*cq_context = ready->public.cq_context;
			/*
			 * This device has no asynchronous events, so this counter counts the completion events taken.
			 */
			ready->public.async_events_completed++;
		}
		int fd = public->fd;
		unlock();
		if (error == 0)
			return 0;
		error = ready_wait(fd);
	}
	errno = error;
	return -1;
}

void ibv_ack_cq_events(struct ibv_cq *public, unsigned int count)
{
	object_check(public, CQ, "ibv_ack_cq_events");
	pthread_mutex_lock(&public->mutex);
	public->comp_events_completed += count;
	pthread_cond_signal(&public->cond);
	pthread_mutex_unlock(&public->mutex);
}

void cq_push_locked(struct cq *cq, const struct ibv_wc *wc, uint32_t slots, bool solicited)
{
	/* Like a real device, loses the completions of a full queue. A real device also reports this by an event. */
	if (cq->count == cq->size)
		return;
	cq->ring[(cq->head + cq->count++) % cq->size] = (struct cqe){ *wc, slots };
	if (cq->armed == ANY || (cq->armed == SOLICITED && (solicited || wc->status != IBV_WC_SUCCESS))) {
		cq->armed = NOT_ARMED;
		if (cq->channel != NULL)
			channel_push(cq->channel, cq);
	}
}

static int poll_cq(struct ibv_cq *public, int entries, struct ibv_wc *wcs)
{
	object_check(public, CQ, "ibv_poll_cq");
	int error = fault("ibv_poll_cq");
	if (error != 0)
		return -error;
	struct cq *cq = object_lock(public, CQ, "ibv_poll_cq");
	int taken = 0;
	for (; taken < entries && cq->count > 0; taken++, cq->count--) {
		const struct cqe *cqe = &cq->ring[cq->head];
		wcs[taken] = cqe->wc;
		if (cqe->slots > 0)
			qp_retire_locked(cqe->wc.qp_num, cqe->slots);
		cq->head = (cq->head + 1) % cq->size;
	}
	unlock();
	return taken;
}

static int req_notify_cq(struct ibv_cq *public, int solicited_only)
{
	int error = fault("ibv_req_notify_cq");
	if (error != 0)
		return error;
	struct cq *cq = object_lock(public, CQ, "ibv_req_notify_cq");
	/* The wider of two requests remains in effect. */
	if (!solicited_only)
		cq->armed = ANY;
	else if (cq->armed == NOT_ARMED)
		cq->armed = SOLICITED;
	unlock();
	return 0;
}

int recv_queue_new(struct recv_queue *queue, uint32_t size, uint32_t max_sge)
{
	queue->size = size;
	queue->max_sge = max_sge;
	queue->ring = calloc(size == 0 ? 1 : size, sizeof(*queue->ring));
	return queue->ring == NULL ? ENOMEM : 0;
}

int recv_queue_push_locked(struct recv_queue *queue, const struct ibv_recv_wr *wr)
{
	if (queue->count == queue->size)
		return ENOMEM;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > queue->max_sge)
		return EINVAL;
	struct recv_wr *entry = &queue->ring[(queue->head + queue->count++) % queue->size];
	entry->wr_id = wr->wr_id;
	entry->num_sge = wr->num_sge;
	memcpy(entry->sges, wr->sg_list, (size_t)wr->num_sge * sizeof(*wr->sg_list));
	return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	object_check(pd, PD, "ibv_create_srq");
	int error = fault("ibv_create_srq");
	if (error == 0 && (attr->attr.max_wr < 1 || attr->attr.max_wr > MOST_WR || attr->attr.max_sge > MOST_SGE))
		error = EINVAL;
	if (error == 0)
		error = object_room(SRQ);
	if (error != 0)
		return failed(error);
	struct srq *srq = object_new(SRQ, sizeof(*srq));
	if (recv_queue_new(&srq->queue, attr->attr.max_wr, attr->attr.max_sge) != 0)
		die("no memory for a shared receive queue");
	srq->public.context = pd->context;
	srq->public.pd = pd;
	srq->public.srq_context = attr->srq_context;
	((struct pd *)object_lock(pd, PD, "ibv_create_srq"))->users++;
	unlock();
	return &srq->public;
}

int ibv_destroy_srq(struct ibv_srq *public)
{
	struct srq *srq = object_check(public, SRQ, "ibv_destroy_srq");
	int error = fault("ibv_destroy_srq");
	if (error != 0)
		return error;
	object_lock(public, SRQ, "ibv_destroy_srq");
	int result = srq->users > 0 ? EBUSY : 0;
	if (result == 0) {
		((struct pd *)public->pd)->users--;
		free(srq->queue.ring);
		object_free(srq, SRQ, "ibv_destroy_srq");
	}
	unlock();
	return result;
}

static int post_srq_recv(struct ibv_srq *public, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = fault("ibv_post_srq_recv");
	struct srq *srq = object_lock(public, SRQ, "ibv_post_srq_recv");
	while (error == 0 && wr != NULL) {
		error = recv_queue_push_locked(&srq->queue, wr);
		if (error == 0)
			wr = wr->next;
	}
	qp_progress_stalled_locked();
	unlock();
	if (error != 0)
		*bad = wr;
	return error;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	object_check(pd, PD, "ibv_create_ah");
	(void)attr;
	int error = fault("ibv_create_ah");
	if (error == 0)
		error = object_room(AH);
	if (error != 0)
		return failed(error);
	struct ibv_ah *ah = object_new(AH, sizeof(*ah));
	ah->context = pd->context;
	ah->pd = pd;
	((struct pd *)object_lock(pd, PD, "ibv_create_ah"))->users++;
	unlock();
	return ah;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
	(void)wc;
	(void)grh;
	(void)port;
	return ibv_create_ah(pd, NULL);
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	object_check(ah, AH, "ibv_destroy_ah");
	int error = fault("ibv_destroy_ah");
	if (error != 0)
		return error;
	object_lock(ah, AH, "ibv_destroy_ah");
	((struct pd *)ah->pd)->users--;
	object_free(ah, AH, "ibv_destroy_ah");
	unlock();
	return 0;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	(void)ece;
	return EOPNOTSUPP;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	(void)ece;
	return EOPNOTSUPP;
}
