/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_id.c -- RdmaId: an end of a connection, and the events of the communication manager
 *
 * An id that librdmacm makes without a channel is synchronous: it waits for its events inside librdmacm, without a
 * timeout. So each id here has its own non-blocking channel. Only a listener gets a channel that librdmacm makes,
 * because rdma_get_request() accepts no other; that channel is made non-blocking too.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "guard.h"
#include "handle.h"
#include "natives.h"
#include "rdmacm.h"
#include "rdmacm_post.h"

/* RdmaEvent reads the fields at these offsets */
struct event {
	int32_t type;
	int32_t status;
	uint32_t qp_num;
	uint32_t qkey;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t srq;
	uint8_t has_ah_attr;
	uint8_t private_data_len;
	uint8_t private_data[256];
	struct ibv_ah_attr ah_attr;
};

_Static_assert(sizeof(struct event) == 312, "size of event");
_Static_assert(offsetof(struct event, private_data) == 24, "private_data");
_Static_assert(offsetof(struct event, ah_attr) == 280, "ah_attr");

static struct rdma_event_channel *new_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	if (channel == NULL || jni_nonblocking(channel->fd) == 0)
		return channel;
	int error = errno;
	rdma_destroy_event_channel(channel);
	errno = error;
	return NULL;
}

/* 0, or -1 with errno; after a failure librdmacm's id remains, but nothing can use it */
static int destroy(struct rdmacm_id *self)
{
	if (self->id->qp != NULL)
		rdma_destroy_qp(self->id);
	if (self->id->srq != NULL)
		rdma_destroy_srq(self->id);
	int rc = rdma_destroy_id(self->id);
	int error = errno;
	rdma_destroy_event_channel(self->channel);
	free(self);
	errno = error;
	return rc;
}

static jlong adopt(struct rdmacm_id *self)
{
	jlong handle = handle_new(self, self->channel->fd);
	if (handle > 0)
		return handle;
	(void)destroy(self);
	return rdmacm_no_memory();
}

/* 0 or the failure */
static jint new_self(struct rdmacm_id **self)
{
	*self = calloc(1, sizeof(**self));
	if (*self == NULL)
		return rdmacm_no_memory();
	(*self)->channel = new_channel();
	if ((*self)->channel != NULL)
		return 0;
	jint result = rdmacm_failed();
	free(*self);
	return result;
}

static void free_self(struct rdmacm_id *self)
{
	rdma_destroy_event_channel(self->channel);
	free(self);
}

/* gives a synchronous id its own channel; 0 or the failure */
static jint take_over(struct rdma_cm_id *id, struct rdmacm_id **self)
{
	jint result = new_self(self);
	if (result != 0)
		return result;
	(*self)->id = id;
	if (rdma_migrate_id(id, (*self)->channel) == 0)
		return 0;
	result = rdmacm_failed();
	free_self(*self);
	return result;
}

static jlong id_create(JNI_PARAMS, jint port_space)
{
	struct rdmacm_id *self = NULL;
	jint result = new_self(&self);
	if (result != 0)
		return result;
	if (rdma_create_id(self->channel, &self->id, NULL, (enum rdma_port_space)port_space) != 0) {
		result = rdmacm_failed();
		free_self(self);
		return result;
	}
	return adopt(self);
}

/*
 * Finds out by another id whether librdmacm knows the device: rdma_create_ep() resolves the address of an id that the
 * guard does not see.
 */
static int try_address(const struct rdma_addrinfo *info)
{
	struct rdma_cm_id *id = NULL;
	if (rdma_create_id(NULL, &id, NULL, info->ai_port_space) != 0)
		return -1;
	int rc = rdma_resolve_addr(id, info->ai_src_addr, info->ai_dst_addr, 2000);
	int error = errno;
	if (rdma_destroy_id(id) != 0)
		return -1;
	errno = error;
	return rc;
}

/* without attributes of a queue pair: rdma_get_request() would leak the id if it failed to make the queue pair */
static jlong create_ep(struct rdma_addrinfo *info)
{
	if ((info->ai_flags & RAI_PASSIVE) == 0 && try_address(info) != 0)
		return rdmacm_failed();
	struct rdma_cm_id *id = NULL;
	if (rdma_create_ep(&id, info, NULL, NULL) != 0)
		return rdmacm_failed();
	struct rdmacm_id *self = NULL;
	jint result = take_over(id, &self);
	if (result != 0) {
		rdma_destroy_ep(id);
		return result;
	}
	return adopt(self);
}

static jlong id_create_ep(JNI_PARAMS, jlong info_handle)
{
	struct rdma_addrinfo *info = handle_hold(info_handle);
	if (info == NULL)
		return RESULT_CLOSED;
	jlong result = create_ep(info);
	handle_release(info_handle);
	return result;
}

/* frees the queues too */
static jint id_destroy(JNI_PARAMS, jlong handle)
{
	struct rdmacm_id *self = handle_take(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	return destroy(self) == 0 ? 0 : rdmacm_failed();
}

/* the bytes are a struct sockaddr_in or sockaddr_in6; NULL for an empty array, which stands for an omitted address */
static struct sockaddr *read_address(JNIEnv *env, jbyteArray bytes, struct sockaddr_storage *address)
{
	memset(address, 0, sizeof(*address));
	jsize length = (*env)->GetArrayLength(env, bytes);
	if (length == 0 || length > (jsize)sizeof(*address))
		return NULL;
	(*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)address);
	return (struct sockaddr *)address;
}

static jint id_bind_addr(JNI_PARAMS, jlong handle, jbyteArray address_bytes)
{
	struct sockaddr_storage storage;
	struct sockaddr *address = read_address(env, address_bytes, &storage);
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jint result = rdma_bind_addr(self->id, address) == 0 ? 0 : rdmacm_failed();
	handle_release(handle);
	return result;
}

static jint set_option(jlong handle, int option, void *value, size_t size)
{
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jint result = rdma_set_option(self->id, RDMA_OPTION_ID, option, value, size) == 0 ? 0 : rdmacm_failed();
	handle_release(handle);
	return result;
}

static jint id_set_reuse_addr(JNI_PARAMS, jlong handle, jboolean reuse)
{
	int value = reuse;
	return set_option(handle, RDMA_OPTION_ID_REUSEADDR, &value, sizeof(value));
}

static jint id_set_tos(JNI_PARAMS, jlong handle, jint tos)
{
	uint8_t value = (uint8_t)tos;
	return set_option(handle, RDMA_OPTION_ID_TOS, &value, sizeof(value));
}

static jint id_set_ack_timeout(JNI_PARAMS, jlong handle, jint timeout)
{
	uint8_t value = (uint8_t)timeout;
	return set_option(handle, RDMA_OPTION_ID_ACK_TIMEOUT, &value, sizeof(value));
}

static jint id_resolve_addr(JNI_PARAMS, jlong handle, jbyteArray source, jbyteArray destination, jint timeout_ms)
{
	struct sockaddr_storage source_storage;
	struct sockaddr_storage destination_storage;
	struct sockaddr *from = read_address(env, source, &source_storage);
	struct sockaddr *to = read_address(env, destination, &destination_storage);
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jint result = rdma_resolve_addr(self->id, from, to, timeout_ms) == 0 ? 0 : rdmacm_failed();
	handle_release(handle);
	return result;
}

static jint id_resolve_route(JNI_PARAMS, jlong handle, jint timeout_ms)
{
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jint result = RESULT_NO_DEVICE;
	if (self->id->verbs != NULL)
		result = rdma_resolve_route(self->id, timeout_ms) == 0 ? 0 : rdmacm_failed();
	handle_release(handle);
	return result;
}

/* the id already has the channel of its requests: requests that arrive before a change of channels would be lost */
static jlong listen_for(struct rdma_cm_id *id, int backlog)
{
	if (jni_nonblocking(id->channel->fd) != 0)
		return rdmacm_failed();
	jlong requests = handle_new(id, id->channel->fd);
	if (requests < 0)
		return rdmacm_no_memory();
	if (rdma_listen(id, backlog) == 0)
		return requests;
	jint result = rdmacm_failed();
	handle_drop(&requests, 1);
	return result;
}

static jlong listen_on(const struct rdmacm_id *self, int backlog)
{
	if (rdma_migrate_id(self->id, NULL) != 0)
		return rdmacm_failed();
	jlong result = listen_for(self->id, backlog);
	if (result < 0)
		(void)rdma_migrate_id(self->id, self->channel);
	return result;
}

/* returns a handle for waits for requests; called once for an id, which is not closed meanwhile */
static jlong id_listen(JNI_PARAMS, jlong handle, jint backlog)
{
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jlong result = listen_on(self, backlog);
	if (result > 0)
		handle_join(handle, &result, 1);
	handle_release(handle);
	return result;
}

static void copy_private_data(struct event *to, const void *data, uint8_t length)
{
	if (data == NULL)
		return;
	memcpy(to->private_data, data, length);
	to->private_data_len = length;
}

static void copy_conn_param(struct event *to, const struct rdma_conn_param *from)
{
	to->qp_num = from->qp_num;
	to->responder_resources = from->responder_resources;
	to->initiator_depth = from->initiator_depth;
	to->flow_control = from->flow_control;
	to->retry_count = from->retry_count;
	to->rnr_retry_count = from->rnr_retry_count;
	to->srq = from->srq;
	copy_private_data(to, from->private_data, from->private_data_len);
}

static void copy_ud_param(struct event *to, const struct rdma_ud_param *from)
{
	to->qp_num = from->qp_num;
	to->qkey = from->qkey;
	copy_private_data(to, from->private_data, from->private_data_len);
}

/* whether librdmacm has filled in param.ud; if not, it has filled in param.conn */
static bool has_ud_param(const struct rdma_cm_event *event)
{
	return event->id->qp_type == IBV_QPT_UD && event->event != RDMA_CM_EVENT_CONNECT_RESPONSE &&
	       event->event != RDMA_CM_EVENT_REJECTED && event->event != RDMA_CM_EVENT_DISCONNECTED;
}

static void give_event(JNIEnv *env, const struct rdma_cm_event *event, jbyteArray bytes)
{
	struct event copy;
	memset(&copy, 0, sizeof(copy));
	copy.type = (int32_t)event->event;
	copy.status = event->status;
	if (has_ud_param(event)) {
		copy_ud_param(&copy, &event->param.ud);
		copy.has_ah_attr = event->event == RDMA_CM_EVENT_ESTABLISHED;
		copy.ah_attr = event->param.ud.ah_attr;
	} else {
		copy_conn_param(&copy, &event->param.conn);
	}
	(*env)->SetByteArrayRegion(env, bytes, 0, (jsize)sizeof(copy), (const jbyte *)&copy);
}

/* 1 if the channel has an event, 0 if it has none, or the failure */
static jint has_event(const struct rdma_event_channel *channel)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	int ready = poll(&fd, 1, 0);
	/* a signal ends poll(2) even if the timeout is 0 */
	while (ready < 0 && errno == EINTR)
		ready = poll(&fd, 1, 0);
	return ready < 0 ? rdmacm_failed() : ready;
}

/*
 * The result after rdma_get_request() has failed. librdmacm keeps an event that is not a request until the next call.
 * If it can't make the id of a request, it takes the event, rejects the request, and then finds no event.
 */
static jlong no_request(JNIEnv *env, struct rdma_cm_id *listener, jbyteArray event)
{
	jint result = rdmacm_failed();
	if (listener->event != NULL) {
		give_event(env, listener->event, event);
		return RESULT_OTHER_EVENT;
	}
	const struct rdma_cm_event rejected = { .id = listener, .event = RDMA_CM_EVENT_CONNECT_REQUEST };
	if (result == RESULT_ERRNO - EAGAIN)
		give_event(env, &rejected, event);
	return result;
}

/*
 * The id of a request, 0 if there is none; copies the event to Java; the change of channels acknowledges the event. No
 * other thread takes an event of the listener meanwhile, so an event that is there before rdma_get_request() and not
 * after it was a request that librdmacm has rejected.
 */
static jlong get_request(JNIEnv *env, struct rdma_cm_id *listener, jbyteArray event)
{
	jint result = has_event(listener->channel);
	if (result != 1)
		return result;
	struct rdma_cm_id *id = NULL;
	if (rdma_get_request(listener, &id) != 0)
		return no_request(env, listener, event);
	give_event(env, id->event, event);
	struct rdmacm_id *self = NULL;
	result = id->verbs == NULL ? RESULT_ERRNO - ENXIO : take_over(id, &self);
	if (result != 0) {
		(void)rdma_reject(id, NULL, 0);
		(void)rdma_destroy_id(id);
		return result;
	}
	return adopt(self);
}

static jlong id_get_request(JNI_PARAMS, jlong requests, jbyteArray event)
{
	struct rdma_cm_id *listener = handle_hold(requests);
	if (listener == NULL)
		return RESULT_CLOSED;
	jlong result = get_request(env, listener, event);
	handle_release(requests);
	return result;
}

/*
 * librdmacm itself moves the queue pairs of InfiniBand and RoCE to the state in which they send. The kernel moves those
 * of iWARP, and libibverbs, which keeps the state for rdmacm_can_send(), is not told.
 */
static void note_connection(const struct rdma_cm_id *id)
{
	if (id->qp != NULL && !rdmacm_can_send(id->qp))
		id->qp->state = IBV_QPS_RTS;
}

static void refuse_unknown_device(struct rdma_cm_event *event)
{
	if (event->event != RDMA_CM_EVENT_ADDR_RESOLVED)
		return;
	event->event = RDMA_CM_EVENT_ADDR_ERROR;
	event->status = -ENXIO;
}

/* 1 if there was an event, 0 if there is none, or an error */
static jint id_next_event(JNI_PARAMS, jlong handle, jbyteArray bytes)
{
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jint result = 1;
	struct rdma_cm_event *event = NULL;
	guard_resolve_begin(self->id);
	int rc = rdma_get_cm_event(self->channel, &event);
	bool has_device = guard_resolve_end(self->id);
	if (rc != 0) {
		result = errno == EAGAIN ? 0 : rdmacm_failed();
	} else {
		if (!has_device)
			refuse_unknown_device(event);
		if (event->event == RDMA_CM_EVENT_ESTABLISHED)
			note_connection(event->id);
		give_event(env, event, bytes);
		/* fails only without an event */
		(void)rdma_ack_cm_event(event);
	}
	handle_release(handle);
	return result;
}

typedef int connecter(struct rdma_cm_id *id, struct rdma_conn_param *param);

static jint connect_by(connecter *call, JNIEnv *env, jlong handle, jbyteArray private_data, jint responder_resources,
		       jint initiator_depth, jboolean flow_control, jint retry_count, jint rnr_retry_count)
{
	jbyte bytes[UINT8_MAX];
	jsize length = (*env)->GetArrayLength(env, private_data);
	if (length > (jsize)sizeof(bytes))
		return RESULT_ERRNO - EINVAL;
	(*env)->GetByteArrayRegion(env, private_data, 0, length, bytes);
	struct rdma_conn_param param = {
		.private_data = bytes,
		.private_data_len = (uint8_t)length,
		.responder_resources = (uint8_t)responder_resources,
		.initiator_depth = (uint8_t)initiator_depth,
		.flow_control = flow_control,
		.retry_count = (uint8_t)retry_count,
		.rnr_retry_count = (uint8_t)rnr_retry_count,
	};
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jint result = RESULT_NO_DEVICE;
	if (self->id->verbs != NULL)
		result = call(self->id, &param) == 0 ? 0 : rdmacm_failed();
	handle_release(handle);
	return result;
}

static jint id_connect(JNI_PARAMS, jlong handle, jbyteArray private_data, jint responder_resources,
		       jint initiator_depth, jboolean flow_control, jint retry_count, jint rnr_retry_count)
{
	return connect_by(rdma_connect, env, handle, private_data, responder_resources, initiator_depth, flow_control,
			  retry_count, rnr_retry_count);
}

/* the accepting side may send before it takes the event */
static int accept_request(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	int rc = rdma_accept(id, param);
	if (rc == 0)
		note_connection(id);
	return rc;
}

static jint id_accept(JNI_PARAMS, jlong handle, jbyteArray private_data, jint responder_resources, jint initiator_depth,
		      jboolean flow_control, jint retry_count, jint rnr_retry_count)
{
	return connect_by(accept_request, env, handle, private_data, responder_resources, initiator_depth, flow_control,
			  retry_count, rnr_retry_count);
}

static jint id_reject(JNI_PARAMS, jlong handle, jbyteArray private_data)
{
	jbyte bytes[UINT8_MAX];
	jsize length = (*env)->GetArrayLength(env, private_data);
	if (length > (jsize)sizeof(bytes))
		return RESULT_ERRNO - EINVAL;
	(*env)->GetByteArrayRegion(env, private_data, 0, length, bytes);
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jint result = rdma_reject(self->id, bytes, (uint8_t)length) == 0 ? 0 : rdmacm_failed();
	handle_release(handle);
	return result;
}

/* 1 if the transport is InfiniBand, which includes RoCE; 0 if it is another, such as iWARP */
static jint id_is_infiniband(JNI_PARAMS, jlong handle)
{
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jint result = RESULT_NO_DEVICE;
	if (self->id->verbs != NULL)
		result = self->id->verbs->device->transport_type == IBV_TRANSPORT_IB;
	handle_release(handle);
	return result;
}

static jint id_disconnect(JNI_PARAMS, jlong handle)
{
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	jint result = RESULT_NO_DEVICE;
	if (self->id->verbs != NULL)
		result = rdma_disconnect(self->id) == 0 ? 0 : rdmacm_failed();
	handle_release(handle);
	return result;
}

/* the array has the size of the larger kind of address, sockaddr_in6; NULL if closed, or with a pending exception */
static jbyteArray address_of(JNIEnv *env, jlong handle, struct sockaddr *(*getter)(struct rdma_cm_id *id))
{
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return NULL;
	jbyteArray address = jni_bytes(env, getter(self->id), (jsize)sizeof(struct sockaddr_in6));
	handle_release(handle);
	return address;
}

static jbyteArray id_local_addr(JNI_PARAMS, jlong handle)
{
	return address_of(env, handle, rdma_get_local_addr);
}

static jbyteArray id_peer_addr(JNI_PARAMS, jlong handle)
{
	return address_of(env, handle, rdma_get_peer_addr);
}

static jint id_max_message(JNI_PARAMS, jlong handle)
{
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return RESULT_CLOSED;
	/* not id->verbs, which another thread can be replacing: see guard_resolve_begin() */
	const struct ibv_pd *pd = rdmacm_pd(self->id);
	jint max = pd == NULL ? RESULT_NO_DEVICE : device_max_message_of(pd->context);
	handle_release(handle);
	return max;
}

/* as device_limits_of(); NULL without a device */
static jbyteArray id_device_limits(JNI_PARAMS, jlong handle)
{
	const struct rdmacm_id *self = handle_hold(handle);
	if (self == NULL)
		return NULL;
	/* not id->verbs, which another thread can be replacing: see guard_resolve_begin() */
	const struct ibv_pd *pd = rdmacm_pd(self->id);
	jbyteArray limits = pd == NULL ? NULL : device_limits_of(env, pd->context);
	handle_release(handle);
	return limits;
}

static const JNINativeMethod methods[] = {
	{ "idCreate", "(I)J", id_create },
	{ "idCreateEp", "(J)J", id_create_ep },
	{ "idDestroy", "(J)I", id_destroy },
	{ "idBindAddr", "(J[B)I", id_bind_addr },
	{ "idSetReuseAddr", "(JZ)I", id_set_reuse_addr },
	{ "idSetTos", "(JI)I", id_set_tos },
	{ "idSetAckTimeout", "(JI)I", id_set_ack_timeout },
	{ "idResolveAddr", "(J[B[BI)I", id_resolve_addr },
	{ "idResolveRoute", "(JI)I", id_resolve_route },
	{ "idListen", "(JI)J", id_listen },
	{ "idGetRequest", "(J[B)J", id_get_request },
	{ "idNextEvent", "(J[B)I", id_next_event },
	{ "idConnect", "(J[BIIZII)I", id_connect },
	{ "idAccept", "(J[BIIZII)I", id_accept },
	{ "idReject", "(J[B)I", id_reject },
	{ "idIsInfiniBand", "(J)I", id_is_infiniband },
	{ "idDisconnect", "(J)I", id_disconnect },
	{ "idLocalAddr", "(J)[B", id_local_addr },
	{ "idPeerAddr", "(J)[B", id_peer_addr },
	{ "idMaxMessage", "(J)I", id_max_message },
	{ "idDeviceLimits", "(J)[B", id_device_limits },
};

const struct jni_table rdmacm_id_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
