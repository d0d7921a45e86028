/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * otherverbs.c -- ibv_qp_to_qp_ex() of a libibverbs whose queue pairs have FUNCTIONS functions after wr_abort: 0 up to
 * release 43, 1 in release 44 (wr_atomic_write), 2 since release 45 (wr_flush)
 */
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	enum { VERBS_QP_EX = 1 << 1 };
	const size_t flags = offsetof(struct ibv_qp_ex, wr_abort) + (1 + FUNCTIONS) * sizeof(void *);
	const uint32_t *comp_mask = (const uint32_t *)((const char *)qp + flags);
	return (*comp_mask & VERBS_QP_EX) != 0 ? (struct ibv_qp_ex *)qp : NULL;
}
