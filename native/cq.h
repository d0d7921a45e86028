/*
 * cq.h -- completion queues, which belong to connections and shared receive queues
 */
#ifndef RPMA_JAVA_CQ_H
#define RPMA_JAVA_CQ_H

#include <jni.h>
#include <librpma.h>

/* makes a queue fit for waits with a time limit and puts it into the table; 0 or librpma's code */
int cq_adopt(struct rpma_cq *cq, jlong *handle);

/*
 * Tells "no event" from a channel that can't be read any more, as that of a removed device: librpma says
 * RPMA_E_NO_COMPLETION for both, and errno is still that of the read.
 */
int cq_waited(const char *what, int rc);

#endif
