/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_addrinfo.c -- RdmaAddrInfo: the address of a name and a port
 */
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"

/* rdma_getaddrinfo() returns a code of getaddrinfo(3), or -1 with errno; -1 is also EAI_BADFLAGS */
static jint failed(int rc)
{
	if (rc == EAI_MEMORY)
		errno = ENOMEM;
	else if (rc == EAI_AGAIN)
		errno = EAGAIN;
	else if (rc != -1 && rc != EAI_SYSTEM)
		errno = EADDRNOTAVAIL;
	return rdmacm_failed();
}

static jlong find(const char *node, const char *service, jint port_space, jboolean passive)
{
	const struct rdma_addrinfo hints = {
		.ai_flags = passive ? RAI_PASSIVE : 0,
		.ai_port_space = port_space,
		.ai_qp_type = port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC,
	};
	struct rdma_addrinfo *info = NULL;
	int rc = rdma_getaddrinfo(node, service, &hints, &info);
	if (rc != 0)
		return failed(rc);
	jlong handle = handle_new(info, -1);
	if (handle < 0) {
		rdma_freeaddrinfo(info);
		return rdmacm_no_memory();
	}
	return handle;
}

/* the node can be NULL */
static jlong addr_info_get(JNI_PARAMS, jstring node, jstring service, jint port_space, jboolean passive)
{
	const char *service_text = (*env)->GetStringUTFChars(env, service, NULL);
	if (service_text == NULL)
		return rdmacm_no_memory();
	const char *node_text = node != NULL ? (*env)->GetStringUTFChars(env, node, NULL) : NULL;
	jlong result = node != NULL && node_text == NULL ? rdmacm_no_memory()
							 : find(node_text, service_text, port_space, passive);
	if (node_text != NULL)
		(*env)->ReleaseStringUTFChars(env, node, node_text);
	(*env)->ReleaseStringUTFChars(env, service, service_text);
	return result;
}

static jint addr_info_free(JNI_PARAMS, jlong handle)
{
	struct rdma_addrinfo *info = handle_take(handle);
	if (info == NULL)
		return RESULT_CLOSED;
	rdma_freeaddrinfo(info);
	return 0;
}

/* the socket address to listen on or to connect to; NULL if closed, or with a pending exception */
static jbyteArray addr_info_address(JNI_PARAMS, jlong handle)
{
	const struct rdma_addrinfo *info = handle_hold(handle);
	if (info == NULL)
		return NULL;
	jbyteArray address = (info->ai_flags & RAI_PASSIVE) != 0
				     ? jni_bytes(env, info->ai_src_addr, (jsize)info->ai_src_len)
				     : jni_bytes(env, info->ai_dst_addr, (jsize)info->ai_dst_len);
	handle_release(handle);
	return address;
}

static const JNINativeMethod methods[] = {
	{ "addrInfoGet", "(Ljava/lang/String;Ljava/lang/String;IZ)J", addr_info_get },
	{ "addrInfoFree", "(J)I", addr_info_free },
	{ "addrInfoAddress", "(J)[B", addr_info_address },
};

const struct jni_table rdmacm_addrinfo_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
