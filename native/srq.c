/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq.c -- RpmaSrq: a receive queue shared by connections
 */
#include <librpma.h>

#include "call.h"
#include "cq.h"
#include "handle.h"
#include "log.h"
#include "natives.h"
#include "post.h"

/* the handles that Java gets; RCQ is 0 if there is no receive completion queue */
enum srq_handles { SRQ, RCQ, SRQ_HANDLES };

/* stores a queue and its completion queue in the table; after a failure the handles that are set are open */
static int adopt(struct rpma_srq *srq, jlong handles[SRQ_HANDLES])
{
	struct rpma_cq *rcq = NULL;
	int rc = rpma_srq_get_rcq(srq, &rcq);
	if (rc != 0)
		return rc;
	handles[SRQ] = handle_new(srq, -1);
	if (handles[SRQ] < 0)
		return (int)handles[SRQ];
	if (rcq == NULL)
		return 0;
	rc = cq_adopt(rcq, &handles[RCQ]);
	if (rc == 0)
		handle_join(handles[SRQ], &handles[RCQ], 1);
	return rc;
}

static int make(struct rpma_peer *peer, struct rpma_srq_cfg *cfg, jlong handles[SRQ_HANDLES])
{
	struct rpma_srq *srq = NULL;
	int rc = rpma_srq_new(peer, cfg, &srq);
	if (rc != 0)
		return rc;
	rc = adopt(srq, handles);
	if (rc != 0) {
		handle_drop(handles, SRQ_HANDLES);
		(void)rpma_srq_delete(&srq);
	}
	return rc;
}

static jint make_held(jlong peer_handle, jlong cfg_handle, jlong handles[SRQ_HANDLES])
{
	struct rpma_srq_cfg *cfg = NULL;
	if (cfg_handle != 0 && (cfg = handle_hold(cfg_handle)) == NULL)
		return RESULT_CLOSED;
	struct rpma_peer *peer = call_begin(peer_handle);
	jint rc = peer == NULL ? RESULT_CLOSED : call_end(peer_handle, make(peer, cfg, handles));
	if (cfg != NULL)
		handle_release(cfg_handle);
	return rc;
}

/*
 * the handle of the configuration can be 0, for the defaults; fills in the handles of the queue and its completion
 * queue
 */
static jint srq_new(JNI_PARAMS, jlong peer, jlong cfg, jlongArray srq_handles)
{
	jlong handles[SRQ_HANDLES] = { 0 };
	jint rc = make_held(peer, cfg, handles);
	if (rc == 0)
		(*env)->SetLongArrayRegion(env, srq_handles, 0, SRQ_HANDLES, handles);
	return rc;
}

/* frees the completion queue too */
static jint srq_delete(JNI_PARAMS, jlong handle)
{
	struct rpma_srq *srq = call_begin_last(handle);
	return srq == NULL ? RESULT_CLOSED : log_end(rpma_srq_delete(&srq));
}

static jint srq_recv(JNI_PARAMS, jlong handle, jlong dst_handle, jlong offset, jlong length, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_srq_recv(thread, handle, dst_handle, offset, length, op_context);
	thread_unmark(thread);
	return result;
}

static const JNINativeMethod methods[] = {
	{ "srqNew", "(JJ[J)I", srq_new },
	{ "srqDelete", "(J)I", srq_delete },
	{ "srqRecv", "(JJJJJ)I", srq_recv },
};

const struct jni_table srq_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
