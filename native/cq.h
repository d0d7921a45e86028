/*
 * cq.h -- completion queues, which belong to connections and shared receive queues
 */
#ifndef RPMA_JAVA_CQ_H
#define RPMA_JAVA_CQ_H

#include <jni.h>
#include <librpma.h>

/* makes a queue fit for waits with a time limit and puts it into the table; 0 or librpma's code */
int cq_adopt(struct rpma_cq *cq, jlong *handle);

#endif
