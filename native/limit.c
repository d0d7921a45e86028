/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limit.c -- the limits of the process and of a device, for the messages of exceptions
 */
#include <stdio.h>
#include <sys/resource.h>

#include "device.h"
#include "log.h"
#include "natives.h"

/* by the numbers of Java's class Hint */
static const int resources[] = { RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_MEMLOCK, RLIMIT_NOFILE, RLIMIT_NPROC };

/* the soft limit, or -1 if there is none */
static jlong process_limit(JNI_PARAMS, jint number)
{
	struct rlimit limit;
	/* can't fail for these resources */
	(void)getrlimit(resources[number], &limit);
	return limit.rlim_cur > INT64_MAX ? -1 : (jlong)limit.rlim_cur;
}

jbyteArray device_limits_of(JNIEnv *env, struct ibv_context *context)
{
	struct ibv_device_attr_ex attributes = { .comp_mask = 0 };
	log_begin();
	if (log_end(device_query(context, &attributes)) != 0)
		return NULL;
	const struct ibv_device_attr *limits = &attributes.orig_attr;
	/* soft-RoCE has no limit and reports the largest unsigned number, which Java's long can't contain */
	long long max_mr_size = limits->max_mr_size > INT64_MAX ? INT64_MAX : (long long)limits->max_mr_size;
	char text[1024];
	int length = snprintf(
		text, sizeof(text),
		"%s max_pd=%d max_mr=%d max_mr_size=%lld max_cq=%d max_cqe=%d max_qp=%d max_qp_wr=%d max_sge=%d "
		"max_sge_rd=%d max_qp_rd_atom=%d max_qp_init_rd_atom=%d max_srq=%d max_srq_wr=%d max_srq_sge=%d "
		"max_ah=%d",
		ibv_get_device_name(context->device), limits->max_pd, limits->max_mr, max_mr_size, limits->max_cq,
		limits->max_cqe, limits->max_qp, limits->max_qp_wr, limits->max_sge, limits->max_sge_rd,
		limits->max_qp_rd_atom, limits->max_qp_init_rd_atom, limits->max_srq, limits->max_srq_wr,
		limits->max_srq_sge, limits->max_ah);
	return jni_bytes(env, text, length);
}

static jbyteArray device_limits(JNI_PARAMS, jlong device)
{
	return device_limits_of(env, jni_pointer(device));
}

static const JNINativeMethod methods[] = {
	{ "processLimit", "(I)J", process_limit },
	{ "deviceLimits", "(J)[B", device_limits },
};

const struct jni_table limit_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
