/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nativerpma.c -- what a librpma with native operations has, as rpma-java recognises it; with native flush if
 * NATIVE_FLUSH is defined
 */
#include <infiniband/verbs.h>
#include <librpma.h>
#include <stdlib.h>

#ifdef NATIVE_FLUSH
const char name_of_function[] = "\0rpma_mr_flush";
#endif

int rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset, size_t len,
	       enum rpma_flush_type type, int flags, const void *op_context)
{
	/* the test has no connection: only the reference to the function matters */
	struct ibv_qp *qp = (struct ibv_qp *)conn;
	if (ibv_qp_to_qp_ex(qp) != NULL)
		abort();
	return RPMA_E_NOSUPP;
}
