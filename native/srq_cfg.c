/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq_cfg.c -- RpmaSrqCfg: the sizes of a shared receive queue and its completion queue
 */
#include <librpma.h>

#include "call.h"
#include "handle.h"
#include "log.h"
#include "natives.h"

#include "io_rpma_RpmaSrqCfg.h"

static const struct {
	int (*set)(struct rpma_srq_cfg *cfg, uint32_t size);
	int (*get)(const struct rpma_srq_cfg *cfg, uint32_t *size);
} sizes[] = {
	[io_rpma_RpmaSrqCfg_RQ_SIZE] = { rpma_srq_cfg_set_rq_size, rpma_srq_cfg_get_rq_size },
	[io_rpma_RpmaSrqCfg_RCQ_SIZE] = { rpma_srq_cfg_set_rcq_size, rpma_srq_cfg_get_rcq_size },
};

static jlong srq_cfg_new(JNI_PARAMS)
{
	struct rpma_srq_cfg *cfg = NULL;
	log_begin();
	int rc = log_end(rpma_srq_cfg_new(&cfg));
	if (rc != 0)
		return rc;
	jlong handle = handle_new(cfg, -1);
	if (handle < 0)
		(void)rpma_srq_cfg_delete(&cfg);
	return handle;
}

static jint srq_cfg_delete(JNI_PARAMS, jlong handle)
{
	struct rpma_srq_cfg *cfg = call_begin_last(handle);
	return cfg == NULL ? RESULT_CLOSED : log_end(rpma_srq_cfg_delete(&cfg));
}

static jint srq_cfg_set_size(JNI_PARAMS, jlong handle, jint which, jint size)
{
	struct rpma_srq_cfg *cfg = call_begin(handle);
	return cfg == NULL ? RESULT_CLOSED : call_end(handle, sizes[which].set(cfg, (uint32_t)size));
}

static jint srq_cfg_get_size(JNI_PARAMS, jlong handle, jint which)
{
	const struct rpma_srq_cfg *cfg = call_begin(handle);
	if (cfg == NULL)
		return RESULT_CLOSED;
	uint32_t size = 0;
	int rc = call_end(handle, sizes[which].get(cfg, &size));
	return rc != 0 ? rc : (jint)size;
}

static const JNINativeMethod methods[] = {
	{ "srqCfgNew", "()J", srq_cfg_new },
	{ "srqCfgDelete", "(J)I", srq_cfg_delete },
	{ "srqCfgSetSize", "(JII)I", srq_cfg_set_size },
	{ "srqCfgGetSize", "(JI)I", srq_cfg_get_size },
};

const struct jni_table srq_cfg_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
