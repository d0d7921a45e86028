/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm.c -- common code of the natives of io.rpma.rdmacm
 */
#include "rdmacm.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <librpma.h>
#include <stdlib.h>

#include "handle.h"
#include "jni_util.h"
#include "log.h"

jint rdmacm_failed(void)
{
	int error = abs(errno);
	return RESULT_ERRNO - (error != 0 ? error : EIO);
}

jint rdmacm_no_memory(void)
{
	/* the exception contains the text of the thread's last call, which was another call */
	log_discard();
	return RPMA_E_NOMEM;
}

jint rdmacm_post_failed(void)
{
	return abs(errno) == ENOMEM ? RESULT_QUEUE_FULL : rdmacm_failed();
}

int rdmacm_sges(jlong parts, jint count, struct ibv_sge sges[RDMACM_MAX_SGE])
{
	/* volatile: each field is read once, because a second thread can change a list against the contract */
	const volatile struct rdmacm_part *part = jni_pointer(parts);
	int used = 0;
	for (jint i = 0; i < count; i++) {
		const struct ibv_mr *mr = handle_marked(part[i].mr);
		if (mr == NULL)
			return RESULT_CLOSED;
		sges[used].addr = (uintptr_t)rdmacm_address(mr, part[i].offset);
		sges[used].length = (uint32_t)part[i].length;
		sges[used].lkey = mr->lkey;
		used += sges[used].length != 0;
	}
	return used == 0 && count > 0 ? 1 : used;
}
