/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h -- calls of librpma with one object: the handle is held and the log messages are kept during the call
 */
#ifndef RPMA_JAVA_CALL_H
#define RPMA_JAVA_CALL_H

#include "handle.h"
#include "log.h"

/* the object, or NULL if closed; after NULL, do not call call_end() */
static inline void *call_begin(jlong handle)
{
	void *object = handle_hold(handle);
	if (object != NULL)
		log_begin();
	return object;
}

/* returns rc */
static inline int call_end(jlong handle, int rc)
{
	(void)log_end(rc);
	handle_release(handle);
	return rc;
}

/* call_begin() for the call that frees the object; end that call with log_end(); see handle_take() */
static inline void *call_begin_last(jlong handle)
{
	void *object = handle_take(handle);
	if (object != NULL)
		log_begin();
	return object;
}

#endif
