/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.c -- RpmaDevice: the verbs contexts of the machine, with their ports and addresses
 *
 * librdmacm owns the contexts. It closes the context of a removed device, unless the context is in use. Each context is
 * therefore pinned for the life of the process, and passed to Java as a plain pointer.
 */
#include "device.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <librpma.h>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "handle.h"
#include "log.h"
#include "natives.h"
#include "versions.h"

/* the context, 0 if the address belongs to no RDMA device (a wildcard), or librpma's code */
static jlong device_get(JNI_PARAMS, jstring address, jboolean remote)
{
	const char *text = (*env)->GetStringUTFChars(env, address, NULL);
	if (text == NULL)
		return 0;
	struct ibv_context *context = NULL;
	log_begin();
	int rc = log_end(rpma_utils_get_ibv_context(text,
						    remote ? RPMA_UTIL_IBV_CONTEXT_REMOTE : RPMA_UTIL_IBV_CONTEXT_LOCAL,
						    &context));
	(*env)->ReleaseStringUTFChars(env, address, text);
	return rc != 0 ? rc : (jlong)(intptr_t)context;
}

/* 0, or RPMA_E_PROVIDER if the device has been removed meanwhile */
static jint device_pin(JNI_PARAMS, jlong device)
{
	log_begin();
	struct ibv_context **contexts = rdma_get_devices(NULL);
	if (contexts == NULL)
		return log_end(log_error("rdma_get_devices()", errno));
	bool found = false;
	for (size_t i = 0; contexts[i] != NULL; i++)
		found = found || contexts[i] == jni_pointer(device);
	/* not rdma_free_devices(), which would release the contexts again: holding them is the pin */
	free(contexts);
	return log_end(found ? 0 : log_error("rdma_get_devices()", ENODEV));
}

/*
 * Why librdmacm lists no device: 0 if the machine has none, or librpma's code. Releases of librdmacm either omit a
 * device that they can't open, or fail with ENODEV. Neither reports the reason.
 */
static int no_devices(int error)
{
	int count = 0;
	struct ibv_device **devices = ibv_get_device_list(&count);
	if (devices == NULL)
		/* a kernel without RDMA; libibverbs reports ENOSYS without descriptors, too */
		return errno == ENOSYS && access("/sys/class/infiniband_verbs", F_OK) != 0
			       ? 0
			       : log_error("ibv_get_device_list()", errno);
	for (int i = 0; i < count; i++) {
		struct ibv_context *context = ibv_open_device(devices[i]);
		if (context != NULL) {
			(void)ibv_close_device(context);
			continue;
		}
		char what[IBV_SYSFS_NAME_MAX + sizeof("ibv_open_device()")];
		int reason = errno;
		(void)snprintf(what, sizeof(what), "ibv_open_device(%s)", ibv_get_device_name(devices[i]));
		(void)log_error(what, reason);
	}
	ibv_free_device_list(devices);
	return count == 0 ? 0 : log_error("rdma_get_devices()", error);
}

/* the contexts of all devices, pinned as by device_pin(); NULL if the devices can't be listed */
static jlongArray device_list(JNI_PARAMS)
{
	int count = 0;
	log_begin();
	struct ibv_context **contexts = rdma_get_devices(&count);
	int rc = log_end(count > 0 ? 0 : no_devices(contexts == NULL ? errno : ENODEV));
	jlongArray list = rc != 0 ? NULL : (*env)->NewLongArray(env, count);
	for (int i = 0; list != NULL && i < count; i++) {
		jlong context = (jlong)(intptr_t)contexts[i];
		(*env)->SetLongArrayRegion(env, list, i, 1, &context);
	}
	free(contexts);
	return list;
}

static jint device_is_odp_capable(JNI_PARAMS, jlong device)
{
	int capable = 0;
	log_begin();
	int rc = log_end(rpma_utils_ibv_context_is_odp_capable(jni_pointer(device), &capable));
	return rc != 0 ? rc : capable;
}

int device_query(struct ibv_context *context, struct ibv_device_attr_ex *attributes)
{
	int error = ibv_query_device_ex(context, NULL, attributes);
	return error == 0 ? 0 : log_error("ibv_query_device_ex()", error);
}

/* 1 if the device has all the capabilities, 0 if not, or librpma's code */
static jint has_capabilities(jlong device, uint64_t capabilities)
{
	struct ibv_device_attr_ex attributes = { .comp_mask = 0 };
	log_begin();
	int rc = log_end(device_query(jni_pointer(device), &attributes));
	return rc != 0 ? rc : (attributes.device_cap_flags_ex & capabilities) == capabilities;
}

int device_is_soft_roce(struct ibv_context *context)
{
	/* the kernel's RXE_VENDOR_ID: devices of hardware have the number of their maker */
	const uint32_t soft_roce = 0xffffff;
	struct ibv_device_attr_ex attributes = { .comp_mask = 0 };
	int rc = device_query(context, &attributes);
	return rc != 0 ? rc : attributes.orig_attr.vendor_id == soft_roce;
}

/* librpma's choice for each peer: 1 if a flush is an operation of the device, 0 if it is a read, or librpma's code */
static jint device_is_flush_native(JNI_PARAMS, jlong device)
{
	/* IB_UVERBS_DEVICE_FLUSH_GLOBAL and IB_UVERBS_DEVICE_FLUSH_PERSISTENT, which rdma-core has since release 45 */
	const uint64_t flushes = UINT64_C(1) << 38 | UINT64_C(1) << 39;
	jint has = has_capabilities(device, flushes);
	return has == 1 ? versions_native_flush() && versions_native_operations_work() : has;
}

/*
 * librpma's choice for each peer: 1 if an atomic write is an operation of the device, 0 if it is a write, or librpma's
 * code
 */
static jint device_is_atomic_write_native(JNI_PARAMS, jlong device)
{
	/* IB_UVERBS_DEVICE_ATOMIC_WRITE */
	const uint64_t atomic_write = UINT64_C(1) << 40;
	jint has = has_capabilities(device, atomic_write);
	return has == 1 ? versions_native_atomic_write() && versions_native_operations_work() : has;
}

static jint max_message_of_port(struct ibv_context *context, uint8_t port)
{
	struct ibv_port_attr attributes;
	if (ibv_query_port(context, port, &attributes) != 0 || attributes.max_msg_sz == 0 ||
	    attributes.max_msg_sz > INT32_MAX)
		return INT32_MAX;
	return (jint)attributes.max_msg_sz;
}

jint device_max_message_of(struct ibv_context *context)
{
	struct ibv_device_attr_ex attributes = { .comp_mask = 0 };
	if (ibv_query_device_ex(context, NULL, &attributes) != 0)
		return INT32_MAX;
	jint max = INT32_MAX;
	for (unsigned port = 1; port <= attributes.orig_attr.phys_port_cnt; port++) {
		jint of_port = max_message_of_port(context, (uint8_t)port);
		max = of_port < max ? of_port : max;
	}
	return max;
}

static jint device_max_message(JNI_PARAMS, jlong device)
{
	return device_max_message_of(jni_pointer(device));
}

/* "PORTS VENDOR PART GUID IWARP ATOMICS FIRMWARE"; NULL if the query fails */
static jbyteArray device_identity(JNI_PARAMS, jlong device)
{
	struct ibv_device_attr_ex attributes = { .comp_mask = 0 };
	struct ibv_context *context = jni_pointer(device);
	log_begin();
	if (log_end(device_query(context, &attributes)) != 0)
		return NULL;
	const struct ibv_device_attr *known = &attributes.orig_attr;
	char text[sizeof(known->fw_ver) + 64];
	int length = snprintf(text, sizeof(text), "%u %u %u %016llx %d %d %.*s", known->phys_port_cnt, known->vendor_id,
			      known->vendor_part_id, (unsigned long long)be64toh(known->node_guid),
			      context->device->transport_type == IBV_TRANSPORT_IWARP, known->atomic_cap != IBV_ATOMIC_NONE,
			      (int)sizeof(known->fw_ver), known->fw_ver);
	return jni_bytes(env, text, length);
}

/* sets the values: the state, the link layer, the MTU, the maximum message and the length of the GID table */
static jint device_port(JNI_PARAMS, jlong device, jint port, jlongArray values)
{
	struct ibv_port_attr attributes = { .state = IBV_PORT_NOP };
	log_begin();
	int error = ibv_query_port(jni_pointer(device), (uint8_t)port, &attributes);
	if (error != 0)
		return log_end(log_error("ibv_query_port()", error));
	jlong mtu = attributes.active_mtu == 0 ? 0 : INT64_C(128) << attributes.active_mtu;
	const jlong all[] = { attributes.state, attributes.link_layer, mtu, attributes.max_msg_sz,
			      attributes.gid_tbl_len };
	(*env)->SetLongArrayRegion(env, values, 0, sizeof(all) / sizeof(all[0]), all);
	return log_end(0);
}

/*
 * writes a line "PORT INTERFACE" for each GID that belongs to a network interface; the number of bytes, or librpma's
 * code
 */
static jint device_interfaces(JNI_PARAMS, jlong device, jint gids, jbyteArray lines)
{
	log_begin();
	struct ibv_gid_entry *entries = calloc((size_t)gids, sizeof(*entries));
	if (entries == NULL)
		return log_end(RPMA_E_NOMEM);
	ssize_t count = ibv_query_gid_table(jni_pointer(device), entries, (size_t)gids, 0);
	jint length = count < 0 ? log_error("ibv_query_gid_table()", (int)-count) : 0;
	for (ssize_t i = 0; i < count; i++) {
		char name[IF_NAMESIZE];
		char line[IF_NAMESIZE + sizeof("255 ")];
		if (if_indextoname(entries[i].ndev_ifindex, name) == NULL) {
			/* the index is 0 without an interface; an interface can disappear at any time */
			if (errno == ENXIO || errno == ENODEV)
				continue;
			length = log_error("if_indextoname()", errno);
			break;
		}
		jsize size = snprintf(line, sizeof(line), "%u %s\n", entries[i].port_num, name);
		(*env)->SetByteArrayRegion(env, lines, length, size, (const jbyte *)line);
		length += size;
	}
	free(entries);
	return log_end(length);
}

/* the device's port that has the address, 0 if this device does not have it, or librpma's code */
static int port_of(const struct ibv_context *context, struct sockaddr *address)
{
	struct rdma_cm_id *id = NULL;
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) != 0)
		return log_error("rdma_create_id()", errno);
	int port = 0;
	if (rdma_bind_addr(id, address) == 0)
		/* an address of this machine alone has no device */
		port = id->verbs == context ? id->port_num : 0;
	else if (errno != ENODEV && errno != EADDRNOTAVAIL)
		port = log_error("rdma_bind_addr()", errno);
	if (rdma_destroy_id(id) != 0)
		port = log_error("rdma_destroy_id()", errno);
	return port;
}

/* writes a line about the address if the device has it; 0 or librpma's code */
static int write_address(FILE *lines, const struct ibv_context *context, const struct ifaddrs *of)
{
	if (of->ifa_addr == NULL || (of->ifa_addr->sa_family != AF_INET && of->ifa_addr->sa_family != AF_INET6))
		return 0;
	int port = port_of(context, of->ifa_addr);
	if (port <= 0)
		return port;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)of->ifa_addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)of->ifa_addr;
	bool is_v4 = of->ifa_addr->sa_family == AF_INET;
	char address[INET6_ADDRSTRLEN];
	(void)inet_ntop(of->ifa_addr->sa_family, is_v4 ? (const void *)&v4->sin_addr : &v6->sin6_addr, address,
			sizeof(address));
	/* the interface of an IPv4 address can have a label, as in eth0:1 */
	(void)fprintf(lines, "%d %.*s %u %s\n", port, (int)strcspn(of->ifa_name, ":"), of->ifa_name,
		      is_v4 ? 0 : v6->sin6_scope_id, address);
	return 0;
}

static int write_addresses(FILE *lines, const struct ibv_context *context)
{
	struct ifaddrs *all = NULL;
	if (getifaddrs(&all) != 0)
		return log_error("getifaddrs()", errno);
	int rc = 0;
	for (const struct ifaddrs *each = all; each != NULL && rc == 0; each = each->ifa_next)
		rc = write_address(lines, context, each);
	freeifaddrs(all);
	return rc;
}

/*
 * A line "PORT INTERFACE SCOPE ADDRESS" for each address of this machine that the device has; only a link-local address
 * has a scope. NULL if a call fails. Binding finds the addresses of each kind of device: a table of GIDs has no
 * addresses of IPoIB and iWARP.
 */
static jbyteArray device_addresses(JNI_PARAMS, jlong device)
{
	char *text = NULL;
	size_t length = 0;
	log_begin();
	FILE *lines = open_memstream(&text, &length);
	if (lines == NULL) {
		(void)log_end(log_error("open_memstream()", errno));
		return NULL;
	}
	int rc = write_addresses(lines, jni_pointer(device));
	if (fclose(lines) != 0 && rc == 0)
		rc = log_error("fclose()", errno);
	jbyteArray bytes = log_end(rc) != 0 ? NULL : jni_bytes(env, text, (jsize)length);
	free(text);
	return bytes;
}

static jbyteArray device_name(JNI_PARAMS, jlong device)
{
	const char *name = ibv_get_device_name(((struct ibv_context *)jni_pointer(device))->device);
	return jni_bytes(env, name, (jsize)strlen(name));
}

/* the handle of the device as the source of its events, or librpma's code */
static jlong device_events(JNI_PARAMS, jlong device)
{
	struct ibv_context *context = jni_pointer(device);
	log_begin();
	if (jni_nonblocking(context->async_fd) != 0)
		return log_end(log_error("fcntl()", errno));
	jlong handle = handle_new(context, context->async_fd);
	return handle < 0 ? log_end((int)handle) : (log_end(0), handle);
}

static bool is_of_queue_pair(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return true;
	default:
		return false;
	}
}

static bool is_of_port(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		return true;
	default:
		return false;
	}
}

/*
 * Takes an event and sets the values: its type, and the number of the port, the number of the queue pair and the
 * descriptor of the completion channel that it is of, or 0, 0 and -1. The event is acknowledged at once, because
 * nothing can destroy its object before. 0, RPMA_E_NO_EVENT or an error
 */
static jint device_next_event(JNI_PARAMS, jlong handle, jlongArray values)
{
	struct ibv_context *context = handle_hold(handle);
	if (context == NULL)
		return RESULT_CLOSED;
	struct ibv_async_event event = { .event_type = IBV_EVENT_CQ_ERR };
	int rc = ibv_get_async_event(context, &event) == 0 ? 0 : errno;
	handle_release(handle);
	if (rc != 0)
		return rc == EAGAIN || rc == EINTR ? RPMA_E_NO_EVENT : RESULT_ERRNO - rc;
	jlong all[] = { event.event_type, 0, 0, -1 };
	if (is_of_port(event.event_type))
		all[1] = event.element.port_num;
	else if (is_of_queue_pair(event.event_type))
		all[2] = event.element.qp->qp_num;
	else if (event.event_type == IBV_EVENT_CQ_ERR && event.element.cq->channel != NULL)
		all[3] = event.element.cq->channel->fd;
	ibv_ack_async_event(&event);
	(*env)->SetLongArrayRegion(env, values, 0, sizeof(all) / sizeof(all[0]), all);
	return 0;
}

static const JNINativeMethod methods[] = {
	{ "deviceGet", "(Ljava/lang/String;Z)J", device_get },
	{ "devicePin", "(J)I", device_pin },
	{ "deviceList", "()[J", device_list },
	{ "deviceIsOdpCapable", "(J)I", device_is_odp_capable },
	{ "deviceIsFlushNative", "(J)I", device_is_flush_native },
	{ "deviceIsAtomicWriteNative", "(J)I", device_is_atomic_write_native },
	{ "deviceMaxMessage", "(J)I", device_max_message },
	{ "deviceIdentity", "(J)[B", device_identity },
	{ "devicePort", "(JI[J)I", device_port },
	{ "deviceInterfaces", "(JI[B)I", device_interfaces },
	{ "deviceAddresses", "(J)[B", device_addresses },
	{ "deviceName", "(J)[B", device_name },
	{ "deviceEvents", "(J)J", device_events },
	{ "deviceNextEvent", "(J[J)I", device_next_event },
};

const struct jni_table device_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
