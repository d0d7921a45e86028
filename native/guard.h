/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.h -- functions of librdmacm and libibverbs, as librpma must see them
 */
#ifndef RPMA_JAVA_GUARD_H
#define RPMA_JAVA_GUARD_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

/* finds the functions that the guard stands in front of; -1 if one is missing */
int guard_init(void);

/* whether librpma's calls reach the guard; they do not if librpma was in the process before the shim */
bool guard_works(void);

/*
 * Bracket a call of librpma that takes, accepts or refuses a request for a connection. If librpma does not keep the
 * request, guard_end() destroys the request's id, which librpma only forgets. Keeps errno.
 */
void guard_begin(void);
void guard_end(bool is_kept);

/* between these two: accepts the request that librpma has turned into a connection; -1 with errno after a failure */
int guard_accept(void);

/*
 * Bracket a call of librdmacm that can take the event of a resolved address. librdmacm does not know a device whose
 * node GUID is 0, and then leaves rdma_cm_id.verbs empty. Up to release 55, it follows this null pointer itself.
 * Between these functions the pointer leads to a device without a transport; guard_resolve_end() returns whether
 * librdmacm has replaced it. No other thread may use the pointer meanwhile.
 */
void guard_resolve_begin(struct rdma_cm_id *id);
bool guard_resolve_end(struct rdma_cm_id *id);

/* the function behind the guard's: libibverbs' own */
typedef struct ibv_qp_ex *guard_qp_to_qp_ex(struct ibv_qp *qp);
guard_qp_to_qp_ex *guard_real_qp_to_qp_ex(void);

#endif
