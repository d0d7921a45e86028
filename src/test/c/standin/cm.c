/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm.c -- the stand-in for the kernel's connection manager: carries out the commands that librdmacm writes to
 * /dev/infiniband/rdma_cm. Both sides of a connection are in this process, and answers are immediate.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "cm_id.h"

/* The room for private data in the messages of connections and of datagrams, in bytes. */
enum { REQUEST_DATA = 56, REPLY_DATA = 196, REJECT_DATA = 148, DATAGRAM_REQUEST_DATA = 180, DATAGRAM_REPLY_DATA = 136 };

enum { MOST_BACKLOG = 1024, FIRST_PORT = 32768 };

/* The time limit of the answer to a disconnection. */
enum { DISCONNECT_MS = 2000 };

/* RDMA_UDP_QKEY of librdmacm. */
enum { UDP_QKEY = 0x01234567 };

static uint16_t last_port = FIRST_PORT;

static bool is_device_address(const struct sockaddr_in *addr)
{
	return addr->sin_addr.s_addr == inet_addr(DEVICE_ADDRESS);
}

/* Whether the address is on the device's network, where only the device's address answers. */
static bool is_neighbour(const struct sockaddr_in *addr)
{
	return (ntohl(addr->sin_addr.s_addr) ^ ntohl(inet_addr(DEVICE_ADDRESS))) < 256;
}

static bool is_port_taken(uint16_t port_space, in_port_t port)
{
	for (const struct cm_id *id = cm_ids; id != NULL; id = id->next)
		if (id->owns_port && id->port_space == port_space && id->src.sin_port == port)
			return true;
	return false;
}

static int take_port(struct cm_id *id, in_port_t port)
{
	if (port != 0 && is_port_taken(id->port_space, port))
		return EADDRINUSE;
	while (port == 0) {
		last_port = last_port == UINT16_MAX ? FIRST_PORT : last_port + 1;
		if (!is_port_taken(id->port_space, htons(last_port)))
			port = htons(last_port);
	}
	id->src.sin_port = port;
	id->owns_port = true;
	return 0;
}

static bool is(const char *address, const struct sockaddr_in6 *other)
{
	struct in6_addr v6;
	return inet_pton(AF_INET6, address, &v6) == 1 && memcmp(&v6, &other->sin6_addr, sizeof(v6)) == 0;
}

/* Returns the address of IPv4 that an address of IPv6 stands for; as it is if there is none. */
static struct sockaddr_in as_v4(const struct sockaddr_in6 *raw)
{
	struct sockaddr_in addr;
	memcpy(&addr, raw, sizeof(addr));
	bool is_own = is(GLOBAL_ADDRESS, raw) || (is(LINK_LOCAL_ADDRESS, raw) && raw->sin6_scope_id == 1);
	if (addr.sin_family == AF_INET6 && (is_own || is("::", raw))) {
		addr = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = raw->sin6_port };
		addr.sin_addr.s_addr = is_own ? inet_addr(DEVICE_ADDRESS) : INADDR_ANY;
	}
	return addr;
}

static int do_bind(struct cm_id *id, const struct sockaddr_in6 *raw)
{
	struct sockaddr_in addr = as_v4(raw);
	if (id->state != IDLE)
		return EINVAL;
	if (addr.sin_family != AF_INET)
		return ENODEV;
	if (addr.sin_addr.s_addr != INADDR_ANY && !is_device_address(&addr))
		return ENODEV;
	id->src = addr;
	int error = take_port(id, addr.sin_port);
	if (error != 0)
		return error;
	id->has_device = is_device_address(&addr);
	id->state = BOUND;
	return 0;
}

static int do_resolve_ip(struct cm_id *id, const struct rdma_ucm_resolve_ip *cmd)
{
	if (id->state != IDLE && id->state != BOUND)
		return EINVAL;
	id->dst = as_v4(&cmd->dst_addr);
	if (cmd->timeout_ms == 0) {
		cm_push(id, ADDR_ERROR_EVENT, -ETIMEDOUT);
	} else if (id->dst.sin_family == AF_INET && is_device_address(&id->dst)) {
		id->src.sin_family = AF_INET;
		id->src.sin_addr.s_addr = inet_addr(DEVICE_ADDRESS);
		if (!id->owns_port)
			take_port(id, 0);
		id->has_device = true;
		id->state = ADDR_RESOLVED;
		cm_push(id, ADDR_RESOLVED_EVENT, 0);
	} else if (id->dst.sin_family == AF_INET && is_neighbour(&id->dst)) {
		cm_add_timer(id, cmd->timeout_ms);
	} else {
		cm_push(id, ADDR_ERROR_EVENT, -ENODEV);
	}
	return 0;
}

static int do_resolve_route(struct cm_id *id)
{
	if (id->state != ADDR_RESOLVED)
		return EINVAL;
	id->state = ROUTE_RESOLVED;
	id->has_path = true;
	cm_push(id, ROUTE_RESOLVED_EVENT, 0);
	return 0;
}

static int do_listen(struct cm_id *id, uint32_t backlog)
{
	if (id->state == IDLE) {
		int error = take_port(id, 0);
		if (error != 0)
			return error;
	} else if (id->state != BOUND) {
		return EINVAL;
	}
	id->backlog = backlog > 0 && backlog < MOST_BACKLOG ? backlog : MOST_BACKLOG;
	id->state = LISTENING;
	return 0;
}

static struct cm_id *find_listener(const struct cm_id *client)
{
	struct cm_id *id = cm_ids;
	while (id != NULL && (id->state != LISTENING || id->port_space != client->port_space ||
			      id->src.sin_port != client->dst.sin_port))
		id = id->next;
	return id;
}

static int do_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	if (id->state != ROUTE_RESOLVED)
		return EINVAL;
	uint8_t field = id->qp_type == IBV_QPT_UD ? DATAGRAM_REQUEST_DATA : REQUEST_DATA;
	if (param->private_data_len > field)
		return EINVAL;
	id->param = *param;
	id->qp_num = param->qp_num;
	struct cm_id *listener = find_listener(id);
	if (listener == NULL || listener->backlog == 0) {
		id->state = OVER;
		cm_push(id, id->qp_type == IBV_QPT_UD ? UNREACHABLE_EVENT : REJECTED_EVENT, INVALID_SERVICE);
		return 0;
	}
	listener->backlog--;
	struct cm_id *server = cm_id_new(listener->file, listener->port_space, listener->qp_type);
	server->state = REQUEST_RECEIVED;
	server->has_device = true;
	server->has_path = true;
	server->src = id->dst;
	server->dst = id->src;
	server->peer = id;
	id->peer = server;
	id->state = REQUEST_SENT;
	struct cm_event *event = cm_push(listener, CONNECT_REQUEST_EVENT, 0);
	event->fresh = server;
	event->resp.id = server->handle;
	if (id->qp_type == IBV_QPT_UD) {
		event->resp.param.ud.private_data_len = field;
		memcpy(event->resp.param.ud.private_data, param->private_data, param->private_data_len);
		return 0;
	}
	event->resp.param.conn = *param;
	memset(event->resp.param.conn.private_data + param->private_data_len, 0,
	       RDMA_MAX_PRIVATE_DATA - param->private_data_len);
	event->resp.param.conn.private_data_len = field;
	/* The responder resources of a side are the initiator depth of its peer. */
	event->resp.param.conn.responder_resources = param->initiator_depth;
	event->resp.param.conn.initiator_depth = param->responder_resources;
	return 0;
}

static int accept_datagrams(struct cm_id *id)
{
	struct cm_id *client = id->peer;
	id->state = ESTABLISHED;
	client->state = ESTABLISHED;
	id->peer = NULL;
	client->peer = NULL;
	struct cm_event *event = cm_push(client, ESTABLISHED_EVENT, 0);
	event->resp.param.ud.qp_num = id->param.qp_num;
	event->resp.param.ud.qkey = UDP_QKEY;
	event->resp.param.ud.ah_attr.port_num = 1;
	event->resp.param.ud.private_data_len = DATAGRAM_REPLY_DATA;
	memcpy(event->resp.param.ud.private_data, id->param.private_data, id->param.private_data_len);
	return 0;
}

static int do_reject(struct cm_id *id, const uint8_t *data, size_t length)
{
	if (id->state != REQUEST_RECEIVED || length > REJECT_DATA)
		return EINVAL;
	struct cm_id *client = id->peer;
	client->state = OVER;
	client->peer = NULL;
	id->state = OVER;
	id->peer = NULL;
	cm_push_with_data(client, id->qp_type == IBV_QPT_UD ? UNREACHABLE_EVENT : REJECTED_EVENT, CONSUMER_DEFINED,
			  data, length, REJECT_DATA);
	return 0;
}

static int do_accept(struct cm_id *id, const struct rdma_ucm_accept *cmd)
{
	if (id->state == REPLY_RECEIVED) {
		id->state = ESTABLISHED;
		id->peer->state = ESTABLISHED;
		cm_push(id->peer, ESTABLISHED_EVENT, 0);
		return 0;
	}
	if (id->state != REQUEST_RECEIVED)
		return EINVAL;
	if (cmd->conn_param.private_data_len > (id->qp_type == IBV_QPT_UD ? DATAGRAM_REPLY_DATA : REPLY_DATA)) {
		do_reject(id, NULL, 0);
		return EINVAL;
	}
	id->uid = cmd->uid;
	id->param = cmd->conn_param;
	id->qp_num = cmd->conn_param.qp_num;
	if (id->qp_type == IBV_QPT_UD)
		return accept_datagrams(id);
	id->state = REPLY_SENT;
	id->peer->state = REPLY_RECEIVED;
	cm_push_with_data(id->peer, CONNECT_RESPONSE_EVENT, 0, cmd->conn_param.private_data,
			  cmd->conn_param.private_data_len, REPLY_DATA);
	return 0;
}

static int do_disconnect(struct cm_id *id)
{
	switch (id->state) {
	case ESTABLISHED:
		id->state = DISCONNECT_SENT;
		cm_add_timer(id, DISCONNECT_MS);
		cm_notify_peer(id, DISCONNECTED_EVENT, 0, DISCONNECT_RECEIVED);
		return 0;
	case DISCONNECT_RECEIVED:
		cm_answer_disconnection(id);
		cm_end_connection(id);
		return 0;
	case IDLE:
	case BOUND:
	case ADDR_RESOLVED:
	case ROUTE_RESOLVED:
	case LISTENING:
		return EINVAL;
	default:
		/* The kernel succeeds, and does nothing. */
		return 0;
	}
}

static int do_init_qp_attr(const struct cm_id *id, enum ibv_qp_state state, struct ib_uverbs_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	if (!id->has_device || id->state == OVER)
		return EINVAL;
	attr->qp_state = state;
	attr->port_num = 1;
	if (id->qp_type == IBV_QPT_UD) {
		attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
		attr->qkey = UDP_QKEY;
		return 0;
	}
	attr->qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	if (state == IBV_QPS_INIT)
		return 0;
	if (id->peer == NULL || id->state < REQUEST_RECEIVED || id->state > ESTABLISHED)
		return EINVAL;
	/* A side may retry as often as its peer has asked for. */
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_DEST_QPN | IBV_QP_RNR_RETRY;
	attr->dest_qp_num = id->peer->qp_num;
	attr->rnr_retry = id->peer->param.rnr_retry_count;
	return 0;
}

/*
 * Reports the path only once. The stand-in does not support AF_IB, so librdmacm queries the route twice: after
 * ADDR_RESOLVED and after ROUTE_RESOLVED. If both answers had a path, librdmacm would leak the path of the first
 * answer. A kernel with AF_IB reports a path in only one answer.
 */
static void do_query_route(struct cm_id *id, struct rdma_ucm_query_route_resp *resp)
{
	memset(resp, 0, sizeof(*resp));
	memcpy(&resp->src_addr, &id->src, sizeof(id->src));
	memcpy(&resp->dst_addr, &id->dst, sizeof(id->dst));
	if (!id->has_device)
		return;
	resp->node_guid = htobe64(node_guid);
	resp->port_num = 1;
	resp->ibdev_index = 1;
	resp->num_paths = id->has_path ? 1 : 0;
	id->has_path = false;
}

/* Blocks, as the kernel's write(2) of this command does. */
static int do_get_event(struct cm_file *file, struct rdma_ucm_event_resp *resp, size_t size)
{
	while (true) {
		object_lock(file, CM_FILE, "rdma_get_cm_event");
		if (file->first != NULL)
			break;
		int fd = file->fd;
		unlock();
		int error = ready_wait(fd);
		if (error != 0)
			return error;
	}
	struct cm_event *event = cm_take_first(file);
	event->id->events_reported++;
	if (event->resp.event == CONNECT_REQUEST_EVENT)
		event->id->backlog++;
	memcpy(resp, &event->resp, size < sizeof(event->resp) ? size : sizeof(event->resp));
	object_free(event, CM_EVENT, "rdma_get_cm_event");
	unlock();
	return 0;
}

static int do_migrate(struct cm_file *file, const struct rdma_ucm_migrate_id *cmd)
{
	struct cm_id *id = cm_find(cmd->id);
	if (id == NULL || id->file != cm_file_of((int)cmd->fd))
		return ENOENT;
	cm_move_events(id, file);
	id->file = file;
	((struct rdma_ucm_migrate_resp *)(uintptr_t)cmd->response)->events_reported = id->events_reported;
	return 0;
}

static void do_create(struct cm_file *file, const struct rdma_ucm_create_id *cmd)
{
	struct cm_id *id = cm_id_new(file, cmd->ps, cmd->qp_type);
	id->uid = cmd->uid;
	((struct rdma_ucm_create_id_resp *)(uintptr_t)cmd->response)->id = id->handle;
}

static int do_destroy(struct cm_id *id, const struct rdma_ucm_destroy_id *cmd)
{
	uint32_t reported = id->events_reported;
	cm_id_destroy(id);
	((struct rdma_ucm_destroy_id_resp *)(uintptr_t)cmd->response)->events_reported = reported;
	return 0;
}

/* Returns the handle in a command about an id; 0 for other commands. */
static uint32_t handle_of(uint32_t command, const void *body)
{
	switch (command) {
	case RDMA_USER_CM_CMD_DESTROY_ID:
		return ((const struct rdma_ucm_destroy_id *)body)->id;
	case RDMA_USER_CM_CMD_BIND_IP:
		return ((const struct rdma_ucm_bind_ip *)body)->id;
	case RDMA_USER_CM_CMD_SET_OPTION:
		return ((const struct rdma_ucm_set_option *)body)->id;
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		return ((const struct rdma_ucm_resolve_ip *)body)->id;
	case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
		return ((const struct rdma_ucm_resolve_route *)body)->id;
	case RDMA_USER_CM_CMD_QUERY_ROUTE:
		return ((const struct rdma_ucm_query *)body)->id;
	case RDMA_USER_CM_CMD_CONNECT:
		return ((const struct rdma_ucm_connect *)body)->id;
	case RDMA_USER_CM_CMD_LISTEN:
		return ((const struct rdma_ucm_listen *)body)->id;
	case RDMA_USER_CM_CMD_ACCEPT:
		return ((const struct rdma_ucm_accept *)body)->id;
	case RDMA_USER_CM_CMD_REJECT:
		return ((const struct rdma_ucm_reject *)body)->id;
	case RDMA_USER_CM_CMD_DISCONNECT:
		return ((const struct rdma_ucm_disconnect *)body)->id;
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
		return ((const struct rdma_ucm_init_qp_attr *)body)->id;
	default:
		return 0;
	}
}

static int do_command_of_id(struct cm_id *id, uint32_t command, const void *body, size_t out)
{
	switch (command) {
	case RDMA_USER_CM_CMD_DESTROY_ID:
		return do_destroy(id, body);
	case RDMA_USER_CM_CMD_BIND_IP:
		return do_bind(id, &((const struct rdma_ucm_bind_ip *)body)->addr);
	case RDMA_USER_CM_CMD_SET_OPTION:
		/* No option changes what the stand-in does. */
		return 0;
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		return do_resolve_ip(id, body);
	case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
		return do_resolve_route(id);
	case RDMA_USER_CM_CMD_QUERY_ROUTE: {
		struct rdma_ucm_query_route_resp resp;
		do_query_route(id, &resp);
		memcpy((void *)(uintptr_t)((const struct rdma_ucm_query *)body)->response, &resp,
		       out < sizeof(resp) ? out : sizeof(resp));
		return 0;
	}
	case RDMA_USER_CM_CMD_CONNECT:
		return do_connect(id, &((const struct rdma_ucm_connect *)body)->conn_param);
	case RDMA_USER_CM_CMD_LISTEN:
		return do_listen(id, ((const struct rdma_ucm_listen *)body)->backlog);
	case RDMA_USER_CM_CMD_ACCEPT:
		return do_accept(id, body);
	case RDMA_USER_CM_CMD_REJECT:
		return do_reject(id, ((const struct rdma_ucm_reject *)body)->private_data,
				 ((const struct rdma_ucm_reject *)body)->private_data_len);
	case RDMA_USER_CM_CMD_DISCONNECT:
		return do_disconnect(id);
	default: {
		const struct rdma_ucm_init_qp_attr *cmd = body;
		return do_init_qp_attr(id, cmd->qp_state, (struct ib_uverbs_qp_attr *)(uintptr_t)cmd->response);
	}
	}
}

static int do_command(struct cm_file *file, const struct rdma_ucm_cmd_hdr *header, const void *body)
{
	switch (header->cmd) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		do_create(file, body);
		return 0;
	case RDMA_USER_CM_CMD_MIGRATE_ID:
		return do_migrate(file, body);
	case RDMA_USER_CM_CMD_BIND:
		/* This error makes librdmacm conclude that InfiniBand addresses are not supported. */
		return EAFNOSUPPORT;
	case RDMA_USER_CM_CMD_NOTIFY:
		return 0;
	default:
		break;
	}
	uint32_t handle = handle_of(header->cmd, body);
	if (handle == 0)
		return ENOSYS;
	struct cm_id *id = cm_find(handle);
	if (id == NULL || id->file != file)
		return ENOENT;
	return do_command_of_id(id, header->cmd, body, header->out);
}

static const char *name_of(uint32_t command)
{
	static const char *const names[] = {
		[RDMA_USER_CM_CMD_CREATE_ID] = "ucma:CREATE_ID",
		[RDMA_USER_CM_CMD_DESTROY_ID] = "ucma:DESTROY_ID",
		[RDMA_USER_CM_CMD_BIND_IP] = "ucma:BIND_IP",
		[RDMA_USER_CM_CMD_SET_OPTION] = "ucma:SET_OPTION",
		[RDMA_USER_CM_CMD_RESOLVE_IP] = "ucma:RESOLVE_IP",
		[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = "ucma:RESOLVE_ROUTE",
		[RDMA_USER_CM_CMD_QUERY_ROUTE] = "ucma:QUERY_ROUTE",
		[RDMA_USER_CM_CMD_CONNECT] = "ucma:CONNECT",
		[RDMA_USER_CM_CMD_LISTEN] = "ucma:LISTEN",
		[RDMA_USER_CM_CMD_ACCEPT] = "ucma:ACCEPT",
		[RDMA_USER_CM_CMD_REJECT] = "ucma:REJECT",
		[RDMA_USER_CM_CMD_DISCONNECT] = "ucma:DISCONNECT",
		[RDMA_USER_CM_CMD_INIT_QP_ATTR] = "ucma:INIT_QP_ATTR",
		[RDMA_USER_CM_CMD_GET_EVENT] = "ucma:GET_EVENT",
		[RDMA_USER_CM_CMD_MIGRATE_ID] = "ucma:MIGRATE_ID",
	};
	const char *name = command < sizeof(names) / sizeof(*names) ? names[command] : NULL;
	return name == NULL ? "ucma:other" : name;
}

long cm_write(struct cm_file *file, const void *command, size_t size)
{
	struct rdma_ucm_cmd_hdr header;
	if (size < sizeof(header))
		die("a command of %zu bytes", size);
	memcpy(&header, command, sizeof(header));
	const void *body = (const char *)command + sizeof(header);
	int error = fault(name_of(header.cmd));
	if (error == 0 && header.cmd == RDMA_USER_CM_CMD_GET_EVENT) {
		const struct rdma_ucm_get_event *cmd = body;
		error = do_get_event(file, (struct rdma_ucm_event_resp *)(uintptr_t)cmd->response, header.out);
	} else if (error == 0) {
		object_lock(file, CM_FILE, name_of(header.cmd));
		error = do_command(file, &header, body);
		unlock();
	}
	if (error != 0) {
		errno = error;
		return -1;
	}
	return (long)size;
}

struct cm_file *cm_file_new(int fd)
{
	struct cm_file *file = object_new(CM_FILE, sizeof(*file));
	file->fd = fd;
	return file;
}

/* Like the kernel, destroys all ids of the descriptor. */
void cm_file_close(struct cm_file *file)
{
	object_lock(file, CM_FILE, "close");
	for (struct cm_id *id = cm_ids; id != NULL;) {
		if (id->file == file) {
			cm_id_destroy(id);
			id = cm_ids;
		} else {
			id = id->next;
		}
	}
	object_free(file, CM_FILE, "close");
	unlock();
}
