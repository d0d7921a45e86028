/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.c -- functions of librdmacm and libibverbs, as librpma must see them
 *
 * The dynamic linker looks for the functions that a library needs first in the library that Java has loaded, which is
 * the shim. So librpma calls the functions that this file exports, and these call the functions of the same name in
 * librdmacm and libibverbs.
 */
#include "guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <librpma.h>
#include <link.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "versions.h"

#define EXPORTED __attribute__((visibility("default")))

static struct {
	int (*rdma_create_qp_ex)(struct rdma_cm_id *, struct ibv_qp_init_attr_ex *);
	int (*rdma_get_cm_event)(struct rdma_event_channel *, struct rdma_cm_event **);
	int (*rdma_accept)(struct rdma_cm_id *, struct rdma_conn_param *);
	int (*rdma_reject)(struct rdma_cm_id *, const void *, uint8_t);
	int (*rdma_disconnect)(struct rdma_cm_id *);
	int (*rdma_migrate_id)(struct rdma_cm_id *, struct rdma_event_channel *);
	int (*rdma_destroy_id)(struct rdma_cm_id *);
	int (*rdma_resolve_addr)(struct rdma_cm_id *, struct sockaddr *, struct sockaddr *, int);
	int (*rdma_getaddrinfo)(const char *, const char *, const struct rdma_addrinfo *, struct rdma_addrinfo **);
	guard_qp_to_qp_ex *ibv_qp_to_qp_ex;
} real;

static bool works;

/* the request for a connection that the thread's call of librpma has in its hands */
static _Thread_local struct {
	bool is_guarded;
	bool is_accepted;
	struct rdma_cm_id *id;
	struct rdma_cm_id *lost; /* whose channel librpma frees, so that no function may use it any more */
	struct rdma_conn_param param;
} request __attribute__((tls_model("initial-exec")));

/* the device of an id while its address is being resolved: see guard_resolve_begin() */
static struct ibv_device unresolved_device = { .transport_type = IBV_TRANSPORT_UNKNOWN };
static struct ibv_context unresolved = { .device = &unresolved_device };

/* the value of ibv_qp.qp_context, which librpma leaves empty, of queue pairs with native operations */
static char native;

static const struct {
	const char *name;
	void *pointer;
} guarded[] = {
	{ "rdma_create_qp_ex", &real.rdma_create_qp_ex },
	{ "rdma_get_cm_event", &real.rdma_get_cm_event },
	{ "rdma_accept", &real.rdma_accept },
	{ "rdma_reject", &real.rdma_reject },
	{ "rdma_disconnect", &real.rdma_disconnect },
	{ "rdma_migrate_id", &real.rdma_migrate_id },
	{ "rdma_destroy_id", &real.rdma_destroy_id },
	{ "rdma_resolve_addr", &real.rdma_resolve_addr },
	{ "rdma_getaddrinfo", &real.rdma_getaddrinfo },
	{ "ibv_qp_to_qp_ex", &real.ibv_qp_to_qp_ex },

};

static struct link_map *library_of(const void *address)
{
	Dl_info info;
	void *library = NULL;
	return dladdr1(address, &info, &library, RTLD_DL_LINKMAP) == 0 ? NULL : library;
}

/* whether the dynamic linker has loaded the other library after the shim, as a library that the shim needs */
static bool is_loaded_after(const struct link_map *shim, const struct link_map *other)
{
	while (shim != NULL && shim != other)
		shim = shim->l_next;
	return shim != NULL;
}

/* the functions stay in use as long as the shim, and so does the library, which stays open */
static void *function_of(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	return handle == NULL ? NULL : dlsym(handle, name);
}

static bool is_of_shim(const void *function)
{
	return library_of(function) == library_of(guarded);
}

/*
 * The function behind the guard's, or NULL. It is usually librdmacm's or libibverbs', which librpma needs; but a
 * library that was preloaded comes before the shim.
 */
static void *find(const char *name, const struct link_map *librpma)
{
	void *function = dlsym(RTLD_DEFAULT, name);
	if (is_of_shim(function))
		function = function_of(librpma->l_name, name);
	return function != NULL ? function : function_of("librdmacm.so.1", name);
}

int guard_init(void)
{
	const struct link_map *librpma = library_of((const void *)&rpma_flush);
	if (librpma == NULL)
		return -1;
	for (size_t i = 0; i < sizeof(guarded) / sizeof(guarded[0]); i++) {
		void *function = find(guarded[i].name, librpma);
		if (function == NULL)
			return -1;
		*(void **)guarded[i].pointer = function;
	}
	/* of the guard's functions, this one prevents crashes */
	works = is_loaded_after(library_of(guarded), librpma) && is_of_shim(dlsym(RTLD_DEFAULT, "ibv_qp_to_qp_ex"));
	return 0;
}

bool guard_works(void)
{
	return works;
}

void guard_begin(void)
{
	request.is_guarded = true;
	request.is_accepted = false;
	request.id = NULL;
	request.lost = NULL;
}

int guard_accept(void)
{
	return request.is_accepted ? real.rdma_accept(request.id, &request.param) : 0;
}

void guard_end(bool is_kept)
{
	int error = errno;
	request.is_guarded = false;
	if (request.id != NULL && !is_kept)
		(void)rdma_destroy_id(request.id);
	errno = error;
}

guard_qp_to_qp_ex *guard_real_qp_to_qp_ex(void)
{
	return real.ibv_qp_to_qp_ex;
}

/* librdmacm refuses such a queue pair with EINVAL, as it does one that exceeds the limits of the device */
static bool is_of_other_device(const struct rdma_cm_id *id, const struct ibv_qp_init_attr_ex *attributes)
{
	const struct ibv_pd *pd = (attributes->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 ? NULL : attributes->pd;
	if (id->verbs == NULL || pd == NULL || pd->context == id->verbs)
		return false;
	char what[2 * IBV_SYSFS_NAME_MAX + sizeof("rdma_create_qp_ex(device=, pd=)")];
	(void)snprintf(what, sizeof(what), "rdma_create_qp_ex(device=%s, pd=%s)",
		       ibv_get_device_name(id->verbs->device), ibv_get_device_name(pd->context->device));
	(void)log_error(what, EXDEV);
	return true;
}

/*
 * librpma that was built with native operations asks for an extended queue pair even if it asks for no operation of
 * it. Two thirds of the providers do not have extended queue pairs, and refuse.
 */
EXPORTED int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attributes)
{
	if (is_of_other_device(id, attributes)) {
		errno = EXDEV;
		return -1;
	}
	if ((attributes->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) {
		if (attributes->send_ops_flags != 0 && versions_native_operations_work())
			attributes->qp_context = &native;
		else
			attributes->comp_mask &= ~(uint32_t)IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	}
	return real.rdma_create_qp_ex(id, attributes);
}

/*
 * librpma calls this for each queue pair, and libibverbs then reads memory behind the queue pair that only extended
 * ones have.
 */
EXPORTED struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return qp->qp_context == &native ? real.ibv_qp_to_qp_ex(qp) : NULL;
}

/* "NODE", or "NODE (ADDRESS)" if the node is another name of the address; NULL without memory */
static char *name_of(const char *node, const struct sockaddr *address, socklen_t length)
{
	char numeric[NI_MAXHOST];
	if (getnameinfo(address, length, numeric, sizeof(numeric), NULL, 0, NI_NUMERICHOST) != 0 ||
	    strcmp(node, numeric) == 0)
		return strdup(node);
	char *name = NULL;
	return asprintf(&name, "%s (%s)", node, numeric) < 0 ? NULL : name;
}

/* librpma's messages show an address only by its canonical name, which librdmacm omits */
EXPORTED int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
			      struct rdma_addrinfo **result)
{
	int rc = real.rdma_getaddrinfo(node, service, hints, result);
	if (rc != 0 || node == NULL)
		return rc;
	struct rdma_addrinfo *info = *result;
	if ((info->ai_flags & RAI_PASSIVE) == 0 && info->ai_dst_canonname == NULL)
		info->ai_dst_canonname = name_of(node, info->ai_dst_addr, info->ai_dst_len);
	else if ((info->ai_flags & RAI_PASSIVE) != 0 && info->ai_src_canonname == NULL)
		info->ai_src_canonname = name_of(node, info->ai_src_addr, info->ai_src_len);
	return 0;
}

void guard_resolve_begin(struct rdma_cm_id *id)
{
	if (id->verbs == NULL)
		id->verbs = &unresolved;
}

bool guard_resolve_end(struct rdma_cm_id *id)
{
	if (id->verbs != &unresolved)
		return true;
	id->verbs = NULL;
	return false;
}

/* an id without a channel of its own has the event when the call returns */
EXPORTED int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *destination,
			       int timeout_ms)
{
	guard_resolve_begin(id);
	int rc = real.rdma_resolve_addr(id, source, destination, timeout_ms);
	bool has_device = guard_resolve_end(id);
	if (rc != 0 || has_device || id->event == NULL)
		return rc;
	errno = ENXIO;
	return -1;
}

/* librpma uses the device of a request without a check */
static int refuse_without_device(struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;
	(void)rdma_ack_cm_event(event);
	(void)rdma_destroy_id(id);
	errno = ENXIO;
	return -1;
}

EXPORTED int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	int rc = real.rdma_get_cm_event(channel, event);
	if (!request.is_guarded || rc != 0 || (*event)->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return rc;
	if ((*event)->id->verbs == NULL)
		return refuse_without_device(*event);
	request.id = (*event)->id;
	return 0;
}

/*
 * librpma accepts before it has made the connection. guard_accept() accepts afterwards, so that a failure rejects the
 * client.
 */
EXPORTED int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	if (!request.is_guarded)
		return real.rdma_accept(id, param);
	request.is_accepted = true;
	request.id = id;
	request.param = *param;
	return 0;
}

EXPORTED int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t length)
{
	if (request.is_guarded)
		request.id = id;
	return real.rdma_reject(id, private_data, length);
}

/* after a failure to accept, librpma would wait here without a limit for the answer of a client that is not connected
 */
EXPORTED int rdma_disconnect(struct rdma_cm_id *id)
{
	bool is_unaccepted = request.is_guarded && (request.id == id || request.lost == id);
	return is_unaccepted ? 0 : real.rdma_disconnect(id);
}

EXPORTED int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	int rc = real.rdma_migrate_id(id, channel);
	if (rc != 0 && channel == NULL && request.is_guarded) {
		request.id = NULL;
		request.lost = id;
	}
	return rc;
}

EXPORTED int rdma_destroy_id(struct rdma_cm_id *id)
{
	if (!request.is_guarded)
		return real.rdma_destroy_id(id);
	if (request.lost == id)
		return 0;
	if (request.id == id)
		request.id = NULL;
	return real.rdma_destroy_id(id);
}
