/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer.c -- RpmaPeer: a protection domain on a device
 */
#include <librpma.h>

#include "call.h"
#include "handle.h"
#include "log.h"
#include "natives.h"

static jlong peer_new(JNI_PARAMS, jlong device)
{
	struct rpma_peer *peer = NULL;
	log_begin();
	int rc = log_end(rpma_peer_new(jni_pointer(device), &peer));
	if (rc != 0)
		return rc;
	jlong handle = handle_new(peer, -1);
	if (handle < 0)
		(void)rpma_peer_delete(&peer);
	return handle;
}

static jint peer_delete(JNI_PARAMS, jlong handle)
{
	struct rpma_peer *peer = call_begin_last(handle);
	return peer == NULL ? RESULT_CLOSED : log_end(rpma_peer_delete(&peer));
}

static const JNINativeMethod methods[] = {
	{ "peerNew", "(J)J", peer_new },
	{ "peerDelete", "(J)I", peer_delete },
};

const struct jni_table peer_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
