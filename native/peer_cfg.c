/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_cfg.c -- RpmaPeerCfg: a peer's description of its platform for the other side
 */
#include <librpma.h>
#include <stdlib.h>

#include "call.h"
#include "handle.h"
#include "log.h"
#include "natives.h"

static jlong peer_cfg_handle(struct rpma_peer_cfg *cfg)
{
	jlong handle = handle_new(cfg, -1);
	if (handle < 0)
		(void)rpma_peer_cfg_delete(&cfg);
	return handle;
}

static jlong peer_cfg_new(JNI_PARAMS)
{
	struct rpma_peer_cfg *cfg = NULL;
	log_begin();
	int rc = log_end(rpma_peer_cfg_new(&cfg));
	return rc != 0 ? rc : peer_cfg_handle(cfg);
}

static jlong peer_cfg_from_descriptor(JNI_PARAMS, jbyte descriptor)
{
	struct rpma_peer_cfg *cfg = NULL;
	log_begin();
	int rc = log_end(rpma_peer_cfg_from_descriptor(&descriptor, sizeof(descriptor), &cfg));
	return rc != 0 ? rc : peer_cfg_handle(cfg);
}

static jint peer_cfg_delete(JNI_PARAMS, jlong handle)
{
	struct rpma_peer_cfg *cfg = call_begin_last(handle);
	return cfg == NULL ? RESULT_CLOSED : log_end(rpma_peer_cfg_delete(&cfg));
}

static jint peer_cfg_set_direct_write_to_pmem(JNI_PARAMS, jlong handle, jboolean supported)
{
	struct rpma_peer_cfg *cfg = call_begin(handle);
	return cfg == NULL ? RESULT_CLOSED : call_end(handle, rpma_peer_cfg_set_direct_write_to_pmem(cfg, supported));
}

static jint peer_cfg_get_direct_write_to_pmem(JNI_PARAMS, jlong handle)
{
	const struct rpma_peer_cfg *cfg = call_begin(handle);
	if (cfg == NULL)
		return RESULT_CLOSED;
	bool supported = false;
	int rc = call_end(handle, rpma_peer_cfg_get_direct_write_to_pmem(cfg, &supported));
	return rc != 0 ? rc : supported;
}

static jint peer_cfg_get_descriptor_size(JNI_PARAMS, jlong handle)
{
	const struct rpma_peer_cfg *cfg = call_begin(handle);
	if (cfg == NULL)
		return RESULT_CLOSED;
	size_t size = 0;
	int rc = call_end(handle, rpma_peer_cfg_get_descriptor_size(cfg, &size));
	return rc != 0 ? rc : (jint)size;
}

/* the array has the size that peerCfgGetDescriptorSize returned */
static jint peer_cfg_get_descriptor(JNI_PARAMS, jlong handle, jbyteArray descriptor)
{
	const struct rpma_peer_cfg *cfg = call_begin(handle);
	if (cfg == NULL)
		return RESULT_CLOSED;
	jbyte bytes[1];
	int rc = call_end(handle, rpma_peer_cfg_get_descriptor(cfg, bytes));
	if (rc == 0)
		(*env)->SetByteArrayRegion(env, descriptor, 0, sizeof(bytes), bytes);
	return rc;
}

static const JNINativeMethod methods[] = {
	{ "peerCfgNew", "()J", peer_cfg_new },
	{ "peerCfgFromDescriptor", "(B)J", peer_cfg_from_descriptor },
	{ "peerCfgDelete", "(J)I", peer_cfg_delete },
	{ "peerCfgSetDirectWriteToPmem", "(JZ)I", peer_cfg_set_direct_write_to_pmem },
	{ "peerCfgGetDirectWriteToPmem", "(J)I", peer_cfg_get_direct_write_to_pmem },
	{ "peerCfgGetDescriptorSize", "(J)I", peer_cfg_get_descriptor_size },
	{ "peerCfgGetDescriptor", "(J[B)I", peer_cfg_get_descriptor },
};

const struct jni_table peer_cfg_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
