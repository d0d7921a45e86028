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

#endif
