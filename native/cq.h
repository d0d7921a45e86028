/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq.h -- the completion queues of connections and of shared receive queues
 */
#ifndef RPMA_JAVA_CQ_H
#define RPMA_JAVA_CQ_H

#include <jni.h>
#include <librpma.h>

/* makes the descriptor of a queue non-blocking and stores the queue in the table; 0 or librpma's code */
int cq_adopt(struct rpma_cq *cq, jlong *handle);

/*
 * Distinguishes "no event" from a channel that can no longer be read, for example because its device was removed.
 * librpma returns RPMA_E_NO_COMPLETION for both, and errno still has the value of the read.
 */
int cq_waited(const char *what, int rc);

#endif
