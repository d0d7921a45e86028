/*
 * call.h -- a call of librpma with one object, whose handle is held and whose messages are kept meanwhile
 */
#ifndef RPMA_JAVA_CALL_H
#define RPMA_JAVA_CALL_H

#include "handle.h"
#include "log.h"

/* the object, or NULL when closed: then there is no call to end */
static inline void *call_begin(jlong handle)
{
	void *object = handle_hold(handle);
	if (object != NULL)
		log_begin();
	return object;
}

/* passes the call's result through */
static inline int call_end(jlong handle, int rc)
{
	(void)log_end(rc);
	handle_release(handle);
	return rc;
}

/* as call_begin() for the call that frees the object, which log_end() alone ends; see handle_retire() */
static inline void *call_begin_last(const jlong *handles, int count)
{
	void *object = handle_retire(handles, count);
	if (object != NULL)
		log_begin();
	return object;
}

#endif
