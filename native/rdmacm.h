/*
 * rdmacm.h -- what the natives of io.rpma.rdmacm share: the ids of librdmacm, and how its failures are returned
 */
#ifndef RPMA_JAVA_RDMACM_H
#define RPMA_JAVA_RDMACM_H

#include <jni.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

#include "result.h"

#define RDMACM_NOMEM (RESULT_ERRNO - ENOMEM)

/* more than any device takes in one operation */
#define RDMACM_MAX_SGE 64

struct rdmacm_id {
	struct rdma_cm_id *id;
	struct rdma_event_channel *channel; /* of this id alone; reading it does not block */
};

/* an entry of RdmaSgeList */
struct rdmacm_part {
	jlong mr;
	jlong offset;
	jlong length;
};

/* the result of a call that has left its reason in errno, which some providers make negative */
jint rdmacm_failed(void);

/* the result of a post: librdmacm's 0, the answer of a full queue, or a failure */
jint rdmacm_post_failed(void);

static inline jint rdmacm_posted(int rc)
{
	return __builtin_expect(rc == 0, 1) ? RESULT_POSTED : rdmacm_post_failed();
}

/* fills in what the parts name, between thread_mark() and thread_unmark(); 0 or RESULT_CLOSED */
int rdmacm_sges(jlong parts, jint count, struct ibv_sge sges[RDMACM_MAX_SGE]);

/* the address of a byte of a region; Java has checked that it is inside */
static inline void *rdmacm_address(const struct ibv_mr *mr, jlong offset)
{
	return (char *)mr->addr + offset;
}

/*
 * NULL without a device. Read once, because librdmacm sets it when the address is resolved, which may be while other threads
 * register memory; then it stays.
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
