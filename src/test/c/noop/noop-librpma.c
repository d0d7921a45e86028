/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * noop-librpma.c -- a librpma that does nothing, so that only the path to librpma is measured
 *
 * Replaces librpma.so.0 in a process that loads it first. There is one static object of each kind, except that memory
 * regions are allocated, as in librpma: otherwise the registrations of several threads would write to one object. The
 * completion queue of a connection is always empty, and its receive completion queue is always full. Another thread
 * completes the receives of the shared receive queue, so that a program can wait for them.
 *
 * There is a device on each machine: rdma_get_devices() overrides librdmacm's function, because librpma comes first
 * among the libraries of the shim. The functions of noop-rdmacm.c override librdmacm's too.
 */
#include <endian.h>
#include <errno.h>
#include <librpma.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

/* the descriptor of librpma 1.3.0: address, size, key and usage, little-endian and without padding */
#define DESCRIPTOR_SIZE 21
#define DESCRIPTOR_SIZE_AT 8
#define DESCRIPTOR_USAGE_AT 20

struct rpma_peer {
	char unused;
};
struct rpma_peer_cfg {
	char unused;
};
struct rpma_conn {
	char unused;
};
struct rpma_conn_cfg {
	char unused;
};
struct rpma_conn_req {
	char unused;
};
struct rpma_ep {
	char unused;
};
struct rpma_srq {
	char unused;
};
struct rpma_srq_cfg {
	char unused;
};
struct rpma_mr_remote {
	size_t size;
};
struct rpma_mr_local {
	void *address;
	size_t size;
	int usage;
};
struct rpma_cq {
	atomic_int completions;
	bool is_used_up; /* whether polls reduce the number of completions */
	int fd;
};

static struct ibv_device device = { .name = "noop" };

static int query_device(struct ibv_context *unused, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t size)
{
	(void)unused;
	(void)input;
	memset(attr, 0, size);
	return 0;
}

static struct verbs_context context = {
	.query_device_ex = query_device,
	.sz = sizeof(context),
	.context = { .device = &device, .abi_compat = __VERBS_ABI_IS_EXTENDED },
};
static struct rpma_peer the_peer;
static struct rpma_peer_cfg the_peer_cfg;
static struct rpma_conn the_conn;
static struct rpma_conn_cfg the_conn_cfg;
static struct rpma_conn_req the_conn_req;
static struct rpma_ep the_ep;
static struct rpma_srq the_srq;
static struct rpma_srq_cfg the_srq_cfg;
static struct rpma_cq empty_cq = { .fd = -1 };
static struct rpma_cq full_cq = { .completions = 1 << 16, .fd = -1 };
static struct rpma_cq srq_cq = { .is_used_up = true, .fd = -1 };

/* the descriptor of each object that can be waited for, except the shared receive queue; never readable */
static int the_fd = -1;

/* counts the receives posted to the shared receive queue */
static int posted_fd = -1;

__attribute__((constructor)) static void make_fds(void)
{
	the_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	empty_cq.fd = the_fd;
	full_cq.fd = the_fd;
	srq_cq.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	posted_fd = eventfd(0, EFD_CLOEXEC);
}

static int give_fd(int *fd)
{
	*fd = the_fd;
	return the_fd < 0 ? RPMA_E_PROVIDER : 0;
}

/* the caller passes the result to free() */
struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **contexts = calloc(2, sizeof(contexts[0]));
	if (contexts == NULL)
		return NULL;
	contexts[0] = &context.context;
	if (num_devices != NULL)
		*num_devices = 1;
	return contexts;
}

/* devices and peers */

int rpma_utils_get_ibv_context(const char *addr, enum rpma_util_ibv_context_type type, struct ibv_context **ibv_ctx_ptr)
{
	*ibv_ctx_ptr = &context.context;
	return 0;
}

int rpma_utils_ibv_context_is_odp_capable(struct ibv_context *ibv_ctx, int *is_odp_capable)
{
	*is_odp_capable = 0;
	return 0;
}

int rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr)
{
	*peer_ptr = &the_peer;
	return 0;
}

int rpma_peer_delete(struct rpma_peer **peer_ptr)
{
	*peer_ptr = NULL;
	return 0;
}

int rpma_peer_cfg_new(struct rpma_peer_cfg **pcfg_ptr)
{
	*pcfg_ptr = &the_peer_cfg;
	return 0;
}

int rpma_peer_cfg_delete(struct rpma_peer_cfg **pcfg_ptr)
{
	*pcfg_ptr = NULL;
	return 0;
}

int rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg *pcfg, bool supported)
{
	return 0;
}

int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg *pcfg, bool *supported)
{
	*supported = false;
	return 0;
}

int rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg *pcfg, void *desc)
{
	*(char *)desc = 0;
	return 0;
}

int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg *pcfg, size_t *desc_size)
{
	*desc_size = 1;
	return 0;
}

int rpma_peer_cfg_from_descriptor(const void *desc, size_t desc_size, struct rpma_peer_cfg **pcfg_ptr)
{
	return rpma_peer_cfg_new(pcfg_ptr);
}

/* memory regions */

int rpma_mr_reg(struct rpma_peer *peer, void *ptr, size_t size, int usage, struct rpma_mr_local **mr_ptr)
{
	struct rpma_mr_local *mr = malloc(sizeof(*mr));
	if (mr == NULL)
		return RPMA_E_NOMEM;
	*mr = (struct rpma_mr_local){ ptr, size, usage };
	*mr_ptr = mr;
	return 0;
}

int rpma_mr_dereg(struct rpma_mr_local **mr_ptr)
{
	free(*mr_ptr);
	*mr_ptr = NULL;
	return 0;
}

int rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc)
{
	char *fields = desc;
	uint64_t address = htole64((uintptr_t)mr->address);
	uint64_t size = htole64(mr->size);
	memset(fields, 0, DESCRIPTOR_SIZE);
	memcpy(fields, &address, sizeof(address));
	memcpy(fields + DESCRIPTOR_SIZE_AT, &size, sizeof(size));
	fields[DESCRIPTOR_USAGE_AT] = (char)mr->usage;
	return 0;
}

int rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size)
{
	*desc_size = DESCRIPTOR_SIZE;
	return 0;
}

int rpma_mr_get_ptr(const struct rpma_mr_local *mr, void **ptr)
{
	*ptr = mr->address;
	return 0;
}

int rpma_mr_get_size(const struct rpma_mr_local *mr, size_t *size)
{
	*size = mr->size;
	return 0;
}

int rpma_mr_advise(struct rpma_mr_local *mr, size_t offset, size_t len, int advice, uint32_t flags)
{
	return 0;
}

int rpma_mr_remote_from_descriptor(const void *desc, size_t desc_size, struct rpma_mr_remote **mr_ptr)
{
	const char *fields = desc;
	uint64_t size = 0;
	struct rpma_mr_remote *mr = malloc(sizeof(*mr));
	if (mr == NULL)
		return RPMA_E_NOMEM;
	memcpy(&size, fields + DESCRIPTOR_SIZE_AT, sizeof(size));
	mr->size = le64toh(size);
	*mr_ptr = mr;
	return 0;
}

int rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size)
{
	*size = mr->size;
	return 0;
}

int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type)
{
	*flush_type = RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	return 0;
}

int rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr)
{
	free(*mr_ptr);
	*mr_ptr = NULL;
	return 0;
}

/* the configuration of connections */

int rpma_conn_cfg_new(struct rpma_conn_cfg **cfg_ptr)
{
	*cfg_ptr = &the_conn_cfg;
	return 0;
}

int rpma_conn_cfg_delete(struct rpma_conn_cfg **cfg_ptr)
{
	*cfg_ptr = NULL;
	return 0;
}

int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg *cfg, int timeout_ms)
{
	return 0;
}

int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg *cfg, int *timeout_ms)
{
	*timeout_ms = 0;
	return 0;
}

int rpma_conn_cfg_set_cq_size(struct rpma_conn_cfg *cfg, uint32_t cq_size)
{
	return 0;
}

int rpma_conn_cfg_get_cq_size(const struct rpma_conn_cfg *cfg, uint32_t *cq_size)
{
	*cq_size = 0;
	return 0;
}

int rpma_conn_cfg_set_rcq_size(struct rpma_conn_cfg *cfg, uint32_t rcq_size)
{
	return 0;
}

int rpma_conn_cfg_get_rcq_size(const struct rpma_conn_cfg *cfg, uint32_t *rcq_size)
{
	*rcq_size = 0;
	return 0;
}

int rpma_conn_cfg_set_sq_size(struct rpma_conn_cfg *cfg, uint32_t sq_size)
{
	return 0;
}

int rpma_conn_cfg_get_sq_size(const struct rpma_conn_cfg *cfg, uint32_t *sq_size)
{
	*sq_size = 0;
	return 0;
}

int rpma_conn_cfg_set_rq_size(struct rpma_conn_cfg *cfg, uint32_t rq_size)
{
	return 0;
}

int rpma_conn_cfg_get_rq_size(const struct rpma_conn_cfg *cfg, uint32_t *rq_size)
{
	*rq_size = 0;
	return 0;
}

int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg *cfg, bool shared)
{
	return 0;
}

int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg *cfg, bool *shared)
{
	*shared = false;
	return 0;
}

int rpma_conn_cfg_set_srq(struct rpma_conn_cfg *cfg, struct rpma_srq *srq)
{
	return 0;
}

int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg *cfg, struct rpma_srq **srq_ptr)
{
	*srq_ptr = NULL;
	return 0;
}

/* endpoints and requests */

int rpma_ep_listen(struct rpma_peer *peer, const char *addr, const char *port, struct rpma_ep **ep_ptr)
{
	*ep_ptr = &the_ep;
	return 0;
}

int rpma_ep_shutdown(struct rpma_ep **ep_ptr)
{
	*ep_ptr = NULL;
	return 0;
}

int rpma_ep_get_fd(const struct rpma_ep *ep, int *fd)
{
	return give_fd(fd);
}

int rpma_ep_next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg, struct rpma_conn_req **req_ptr)
{
	return RPMA_E_NO_EVENT;
}

int rpma_conn_req_new(struct rpma_peer *peer, const char *addr, const char *port, const struct rpma_conn_cfg *cfg,
		      struct rpma_conn_req **req_ptr)
{
	*req_ptr = &the_conn_req;
	return 0;
}

int rpma_conn_req_delete(struct rpma_conn_req **req_ptr)
{
	*req_ptr = NULL;
	return 0;
}

int rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst, size_t offset, size_t len,
		       const void *op_context)
{
	return 0;
}

int rpma_conn_req_get_private_data(const struct rpma_conn_req *req, struct rpma_conn_private_data *pdata)
{
	*pdata = (struct rpma_conn_private_data){ NULL, 0 };
	return 0;
}

int rpma_conn_req_connect(struct rpma_conn_req **req_ptr, const struct rpma_conn_private_data *pdata,
			  struct rpma_conn **conn_ptr)
{
	*req_ptr = NULL;
	*conn_ptr = &the_conn;
	return 0;
}

/* connections */

int rpma_conn_delete(struct rpma_conn **conn_ptr)
{
	*conn_ptr = NULL;
	return 0;
}

int rpma_conn_disconnect(struct rpma_conn *conn)
{
	return 0;
}

int rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn, const struct rpma_peer_cfg *pcfg)
{
	return 0;
}

int rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd)
{
	return give_fd(fd);
}

int rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event)
{
	return RPMA_E_NO_EVENT;
}

int rpma_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *pdata)
{
	*pdata = (struct rpma_conn_private_data){ NULL, 0 };
	return 0;
}

int rpma_conn_get_qp_num(const struct rpma_conn *conn, uint32_t *qp_num)
{
	*qp_num = 1;
	return 0;
}

int rpma_conn_get_cq(const struct rpma_conn *conn, struct rpma_cq **cq_ptr)
{
	*cq_ptr = &empty_cq;
	return 0;
}

int rpma_conn_get_rcq(const struct rpma_conn *conn, struct rpma_cq **rcq_ptr)
{
	*rcq_ptr = &full_cq;
	return 0;
}

int rpma_conn_get_compl_fd(const struct rpma_conn *conn, int *fd)
{
	return RPMA_E_NOT_SHARED_CHNL;
}

int rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq)
{
	return RPMA_E_NOT_SHARED_CHNL;
}

/* shared receive queues */

int rpma_srq_cfg_new(struct rpma_srq_cfg **cfg_ptr)
{
	*cfg_ptr = &the_srq_cfg;
	return 0;
}

int rpma_srq_cfg_delete(struct rpma_srq_cfg **cfg_ptr)
{
	*cfg_ptr = NULL;
	return 0;
}

int rpma_srq_cfg_set_rq_size(struct rpma_srq_cfg *cfg, uint32_t rq_size)
{
	return 0;
}

int rpma_srq_cfg_get_rq_size(const struct rpma_srq_cfg *cfg, uint32_t *rq_size)
{
	*rq_size = 0;
	return 0;
}

int rpma_srq_cfg_set_rcq_size(struct rpma_srq_cfg *cfg, uint32_t rcq_size)
{
	return 0;
}

int rpma_srq_cfg_get_rcq_size(const struct rpma_srq_cfg *cfg, uint32_t *rcq_size)
{
	*rcq_size = 0;
	return 0;
}

int rpma_srq_new(struct rpma_peer *peer, struct rpma_srq_cfg *cfg, struct rpma_srq **srq_ptr)
{
	*srq_ptr = &the_srq;
	return 0;
}

int rpma_srq_delete(struct rpma_srq **srq_ptr)
{
	*srq_ptr = NULL;
	return 0;
}

/* runs only while its processor is idle, so that the posting thread begins to wait before there is a completion */
static void *complete_receives(void *unused)
{
	const struct sched_param none = { 0 };
	eventfd_t posted = 0;
	if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
		abort();
	while (eventfd_read(posted_fd, &posted) == 0) {
		atomic_fetch_add(&srq_cq.completions, (int)posted);
		if (eventfd_write(srq_cq.fd, 1) != 0)
			abort();
	}
	return NULL;
}

/* both threads are bound to the caller's processor: the time to wake another processor varies, and is not measured */
static void start_completing(void)
{
	pthread_t thread;
	cpu_set_t processor;
	CPU_ZERO(&processor);
	CPU_SET(sched_getcpu(), &processor);
	if (sched_setaffinity(0, sizeof(processor), &processor) != 0)
		abort();
	if (pthread_create(&thread, NULL, complete_receives, NULL) != 0)
		abort();
}

/*
 * the thread starts with the first receive, because calls of the C library take longer in a process with several
 * threads
 */
int rpma_srq_recv(struct rpma_srq *srq, struct rpma_mr_local *dst, size_t offset, size_t len, const void *op_context)
{
	static pthread_once_t start = PTHREAD_ONCE_INIT;
	pthread_once(&start, start_completing);
	return eventfd_write(posted_fd, 1) == 0 ? 0 : RPMA_E_PROVIDER;
}

int rpma_srq_get_rcq(const struct rpma_srq *srq, struct rpma_cq **rcq_ptr)
{
	*rcq_ptr = &srq_cq;
	return 0;
}

/* posts */

int rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset, const struct rpma_mr_remote *src,
	      size_t src_offset, size_t len, int flags, const void *op_context)
{
	return 0;
}

int rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset, const struct rpma_mr_local *src,
	       size_t src_offset, size_t len, int flags, const void *op_context)
{
	return 0;
}

int rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags, uint32_t imm,
			const void *op_context)
{
	return 0;
}

int rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset, const char src[8],
		      int flags, const void *op_context)
{
	return 0;
}

int rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset, size_t len,
	       enum rpma_flush_type type, int flags, const void *op_context)
{
	return 0;
}

int rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset, size_t len, int flags,
	      const void *op_context)
{
	return 0;
}

int rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset, size_t len, int flags,
		       uint32_t imm, const void *op_context)
{
	return 0;
}

int rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len, const void *op_context)
{
	return 0;
}

/* completions */

int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd)
{
	*fd = cq->fd;
	return cq->fd < 0 ? RPMA_E_PROVIDER : 0;
}

int rpma_cq_wait(struct rpma_cq *cq)
{
	eventfd_t events = 0;
	if (cq == &srq_cq)
		return eventfd_read(cq->fd, &events) == 0 ? 0 : RPMA_E_NO_COMPLETION;
	/* as for a completion channel without events */
	errno = EAGAIN;
	return RPMA_E_NO_COMPLETION;
}

int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got)
{
	int completions = atomic_load(&cq->completions);
	int count = num_entries < completions ? num_entries : completions;
	if (count == 0)
		return RPMA_E_NO_COMPLETION;
	if (cq->is_used_up)
		atomic_fetch_sub(&cq->completions, count);
	for (int i = 0; i < count; i++)
		wc[i] = (struct ibv_wc){ .wr_id = (uint64_t)i, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV };
	if (num_entries_got != NULL)
		*num_entries_got = count;
	return 0;
}

/* texts and the log */

const char *rpma_utils_conn_event_2str(enum rpma_conn_event conn_event)
{
	return "an event";
}

const char *rpma_err_2str(int ret)
{
	return "an error";
}

int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level)
{
	return 0;
}

int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level *level)
{
	*level = RPMA_LOG_DISABLED;
	return 0;
}

int rpma_log_set_function(rpma_log_function *log_function)
{
	return 0;
}
