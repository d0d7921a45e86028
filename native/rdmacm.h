/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm.h -- common code of the natives of io.rpma.rdmacm: the ids of librdmacm, and the results of its failures
 */
#ifndef RPMA_JAVA_RDMACM_H
#define RPMA_JAVA_RDMACM_H

#include <jni.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

#include "jni_util.h"

/* more than any device supports in one operation */
#define RDMACM_MAX_SGE 64

struct rdmacm_id {
	struct rdma_cm_id *id;
	struct rdma_event_channel *channel; /* of this id only, and non-blocking */
};

/* an entry of RdmaSgeList */
struct rdmacm_part {
	jlong mr;
	jlong offset;
	jlong length;
};

/* the result of a call that has failed with errno, which some providers make negative */
jint rdmacm_failed(void);

/* the result if the table of handles is full, or if malloc() in the shim has failed */
jint rdmacm_no_memory(void);

/* the result of a post that has failed with errno: RESULT_QUEUE_FULL, or as rdmacm_failed() */
jint rdmacm_post_failed(void);

static inline jint rdmacm_posted(int rc)
{
	return __builtin_expect(rc == 0, 1) ? RESULT_POSTED : rdmacm_post_failed();
}

/*
 * Converts the parts; call this between thread_mark() and thread_unmark(). Returns their number or RESULT_CLOSED. Omits
 * parts without bytes, at which the kernel of siw crashes if bytes follow, but keeps one of an operation without bytes:
 * siw refuses a receive without parts.
 */
int rdmacm_sges(jlong parts, jint count, struct ibv_sge sges[RDMACM_MAX_SGE]);

/* the address of a byte of a region; Java has checked the offset */
static inline void *rdmacm_address(const struct ibv_mr *mr, jlong offset)
{
	return (char *)mr->addr + offset;
}

/*
 * The protection domain, NULL if the id has no device. It is read once: librdmacm sets it when the address is resolved,
 * possibly while other threads register memory, and does not change it afterwards.
 */
static inline struct ibv_pd *rdmacm_pd(const struct rdma_cm_id *id)
{
	return __atomic_load_n(&id->pd, __ATOMIC_ACQUIRE);
}

static inline void *rdmacm_context(jlong context)
{
	return (void *)(uintptr_t)context;
}

#endif
