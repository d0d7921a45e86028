/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fail.c -- a call of librpma that fails and is logged, without the shim
 */
#include <librpma.h>
#include <stddef.h>

int main(void)
{
	struct ibv_context *context = NULL;
	return rpma_utils_get_ibv_context("192.0.2.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &context) == RPMA_E_PROVIDER ? 0
														 : 1;
}
