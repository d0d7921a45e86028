/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_cfg.c -- RpmaConnCfg: the queue sizes of a connection, and the timeout of its resolution
 */
#include <librpma.h>

#include "call.h"
#include "handle.h"
#include "log.h"
#include "natives.h"

#include "io_rpma_RpmaConnCfg.h"

static const struct {
	int (*set)(struct rpma_conn_cfg *cfg, uint32_t size);
	int (*get)(const struct rpma_conn_cfg *cfg, uint32_t *size);
} sizes[] = {
	[io_rpma_RpmaConnCfg_CQ_SIZE] = { rpma_conn_cfg_set_cq_size, rpma_conn_cfg_get_cq_size },
	[io_rpma_RpmaConnCfg_SQ_SIZE] = { rpma_conn_cfg_set_sq_size, rpma_conn_cfg_get_sq_size },
	[io_rpma_RpmaConnCfg_RQ_SIZE] = { rpma_conn_cfg_set_rq_size, rpma_conn_cfg_get_rq_size },
	[io_rpma_RpmaConnCfg_RCQ_SIZE] = { rpma_conn_cfg_set_rcq_size, rpma_conn_cfg_get_rcq_size },
};

static jlong conn_cfg_new(JNI_PARAMS)
{
	struct rpma_conn_cfg *cfg = NULL;
	log_begin();
	int rc = log_end(rpma_conn_cfg_new(&cfg));
	if (rc != 0)
		return rc;
	jlong handle = handle_new(cfg, -1);
	if (handle < 0)
		(void)rpma_conn_cfg_delete(&cfg);
	return handle;
}

static jint conn_cfg_delete(JNI_PARAMS, jlong handle)
{
	struct rpma_conn_cfg *cfg = call_begin_last(handle);
	return cfg == NULL ? RESULT_CLOSED : log_end(rpma_conn_cfg_delete(&cfg));
}

static jint conn_cfg_set_timeout(JNI_PARAMS, jlong handle, jint timeout_ms)
{
	struct rpma_conn_cfg *cfg = call_begin(handle);
	return cfg == NULL ? RESULT_CLOSED : call_end(handle, rpma_conn_cfg_set_timeout(cfg, timeout_ms));
}

static jint conn_cfg_get_timeout(JNI_PARAMS, jlong handle)
{
	const struct rpma_conn_cfg *cfg = call_begin(handle);
	if (cfg == NULL)
		return RESULT_CLOSED;
	int timeout_ms = 0;
	int rc = call_end(handle, rpma_conn_cfg_get_timeout(cfg, &timeout_ms));
	return rc != 0 ? rc : timeout_ms;
}

static jint conn_cfg_set_size(JNI_PARAMS, jlong handle, jint which, jint size)
{
	struct rpma_conn_cfg *cfg = call_begin(handle);
	return cfg == NULL ? RESULT_CLOSED : call_end(handle, sizes[which].set(cfg, (uint32_t)size));
}

static jint conn_cfg_get_size(JNI_PARAMS, jlong handle, jint which)
{
	const struct rpma_conn_cfg *cfg = call_begin(handle);
	if (cfg == NULL)
		return RESULT_CLOSED;
	uint32_t size = 0;
	int rc = call_end(handle, sizes[which].get(cfg, &size));
	return rc != 0 ? rc : (jint)size;
}

static jint conn_cfg_set_compl_channel(JNI_PARAMS, jlong handle, jboolean shared)
{
	struct rpma_conn_cfg *cfg = call_begin(handle);
	return cfg == NULL ? RESULT_CLOSED : call_end(handle, rpma_conn_cfg_set_compl_channel(cfg, shared));
}

static jint conn_cfg_get_compl_channel(JNI_PARAMS, jlong handle)
{
	const struct rpma_conn_cfg *cfg = call_begin(handle);
	if (cfg == NULL)
		return RESULT_CLOSED;
	bool shared = false;
	int rc = call_end(handle, rpma_conn_cfg_get_compl_channel(cfg, &shared));
	return rc != 0 ? rc : shared;
}

static jint conn_cfg_set_srq(JNI_PARAMS, jlong handle, jlong srq_handle)
{
	struct rpma_conn_cfg *cfg = handle_hold(handle);
	if (cfg == NULL)
		return RESULT_CLOSED;
	struct rpma_srq *srq = call_begin(srq_handle);
	int rc = srq == NULL ? RESULT_CLOSED : call_end(srq_handle, rpma_conn_cfg_set_srq(cfg, srq));
	handle_release(handle);
	return rc;
}

/* 1 if a shared receive queue is set, else 0; the queue may already be deleted */
static jint conn_cfg_get_srq(JNI_PARAMS, jlong handle)
{
	const struct rpma_conn_cfg *cfg = call_begin(handle);
	if (cfg == NULL)
		return RESULT_CLOSED;
	struct rpma_srq *srq = NULL;
	int rc = call_end(handle, rpma_conn_cfg_get_srq(cfg, &srq));
	return rc != 0 ? rc : srq != NULL;
}

static const JNINativeMethod methods[] = {
	{ "connCfgNew", "()J", conn_cfg_new },
	{ "connCfgDelete", "(J)I", conn_cfg_delete },
	{ "connCfgSetTimeout", "(JI)I", conn_cfg_set_timeout },
	{ "connCfgGetTimeout", "(J)I", conn_cfg_get_timeout },
	{ "connCfgSetSize", "(JII)I", conn_cfg_set_size },
	{ "connCfgGetSize", "(JI)I", conn_cfg_get_size },
	{ "connCfgSetComplChannel", "(JZ)I", conn_cfg_set_compl_channel },
	{ "connCfgGetComplChannel", "(J)I", conn_cfg_get_compl_channel },
	{ "connCfgSetSrq", "(JJ)I", conn_cfg_set_srq },
	{ "connCfgGetSrq", "(J)I", conn_cfg_get_srq },
};

const struct jni_table conn_cfg_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
