/*
 * post.h -- what all posts have in common: operands that may be left out, and the answer of a full queue
 */
#ifndef RPMA_JAVA_POST_H
#define RPMA_JAVA_POST_H

#include <jni.h>
#include <stdbool.h>

#include "handle.h"
#include "jni_util.h"
#include "thread.h"

/* tells why a post failed, and ends its call as log_end() does */
jint post_failed(struct thread *thread, int rc);

/* ends a post that thread_mark() has begun */
static inline jint posted(struct thread *thread, int rc)
{
	jint result = __builtin_expect(rc == 0 || rc == HANDLE_CLOSED, 1) ? rc : post_failed(thread, rc);
	thread_unmark(thread);
	return result;
}

/* a region that is left out has the handle 0, and librpma takes NULL for it */
static inline bool is_usable(jlong handle, const void *region)
{
	return region != NULL || handle == 0;
}

static inline const void *op_context_of(jlong op_context)
{
	return jni_pointer(op_context);
}

#endif
