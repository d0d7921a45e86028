/*
 * post.c -- what all posts have in common: operands that may be left out, and the answer of a full queue
 */
#include "post.h"

#include <errno.h>
#include <librpma.h>

#include "log.h"

/* what a post returns when the queue has no room: an answer, not an error */
#define QUEUE_FULL 1

/*
 * librpma does not return why a post failed, only logs it. A provider answers ENOMEM when the queue is full; soft-RoCE's
 * native flush and native atomic write answer ENOSPC.
 */
jint post_failed(struct thread *thread, int rc)
{
	if (rc != RPMA_E_PROVIDER || !(log_says_errno(thread, ENOMEM) || log_says_errno(thread, ENOSPC)))
		return log_failed(thread, rc);
	log_discard();
	return QUEUE_FULL;
}
