/*
 * conn.c -- RpmaConn: an established connection and what is posted on it
 */
#include <errno.h>
#include <librpma.h>

#include "handle.h"
#include "log.h"
#include "natives.h"

/* what a post returns when the queue has no room: an answer, not an error */
#define QUEUE_FULL 1

/*
 * librpma does not return why a post failed, only logs it. A provider answers ENOMEM when the send queue is full;
 * soft-RoCE's native flush and native atomic write answer ENOSPC.
 */
static jint post_failed(struct thread *thread, int rc)
{
	if (rc != RPMA_E_PROVIDER || !(log_says(thread, ENOMEM) || log_says(thread, ENOSPC)))
		return log_failed(thread, rc);
	log_discard();
	return QUEUE_FULL;
}

static inline jint posted(struct thread *thread, int rc)
{
	jint result = __builtin_expect(rc == 0 || rc == HANDLE_CLOSED, 1) ? rc : post_failed(thread, rc);
	thread_unmark(thread);
	return result;
}

static inline const void *op_context_of(jlong op_context)
{
	return jni_pointer(op_context);
}

static jint conn_read(JNIEnv *env, jclass natives, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong src_handle,
		jlong src_offset, jlong length, jint flags, jlong op_context)
{
	(void)env;
	(void)natives;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_local *dst = handle_marked(dst_handle);
	const struct rpma_mr_remote *src = handle_marked(src_handle);
	int rc = HANDLE_CLOSED;
	if (conn != NULL && dst != NULL && src != NULL)
		rc = rpma_read(conn, dst, (size_t)dst_offset, src, (size_t)src_offset, (size_t)length, flags,
				op_context_of(op_context));
	return posted(thread, rc);
}

static jint conn_write(JNIEnv *env, jclass natives, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong src_handle,
		jlong src_offset, jlong length, jint flags, jlong op_context)
{
	(void)env;
	(void)natives;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_remote *dst = handle_marked(dst_handle);
	const struct rpma_mr_local *src = handle_marked(src_handle);
	int rc = HANDLE_CLOSED;
	if (conn != NULL && dst != NULL && src != NULL)
		rc = rpma_write(conn, dst, (size_t)dst_offset, src, (size_t)src_offset, (size_t)length, flags,
				op_context_of(op_context));
	return posted(thread, rc);
}

static jint conn_atomic_write(JNIEnv *env, jclass natives, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong value,
		jint flags, jlong op_context)
{
	(void)env;
	(void)natives;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_remote *dst = handle_marked(dst_handle);
	int rc = HANDLE_CLOSED;
	if (conn != NULL && dst != NULL)
		rc = rpma_atomic_write(conn, dst, (size_t)dst_offset, (const char *)&value, flags, op_context_of(op_context));
	return posted(thread, rc);
}

static jint conn_flush(JNIEnv *env, jclass natives, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong length,
		jint type, jint flags, jlong op_context)
{
	(void)env;
	(void)natives;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_remote *dst = handle_marked(dst_handle);
	int rc = HANDLE_CLOSED;
	if (conn != NULL && dst != NULL)
		rc = rpma_flush(conn, dst, (size_t)dst_offset, (size_t)length, (enum rpma_flush_type)type, flags,
				op_context_of(op_context));
	return posted(thread, rc);
}

/* rpma_conn_event of the next event, or librpma's code; RPMA_E_NO_EVENT when there is none */
static jint conn_next_event(JNIEnv *env, jclass natives, jlong handle)
{
	(void)env;
	(void)natives;
	struct rpma_conn *conn = handle_hold(handle);
	if (conn == NULL)
		return HANDLE_CLOSED;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	log_begin();
	int rc = rpma_conn_next_event(conn, &event);
	if (rc == RPMA_E_PROVIDER && errno == EAGAIN) {
		log_discard();
		rc = RPMA_E_NO_EVENT;
	} else {
		(void)log_end(rc);
	}
	handle_release(handle);
	return rc != 0 ? rc : (jint)event;
}

/* NULL with a pending exception, or when closed without one */
static jbyteArray conn_get_private_data(JNIEnv *env, jclass natives, jlong handle)
{
	(void)natives;
	const struct rpma_conn *conn = handle_hold(handle);
	if (conn == NULL)
		return NULL;
	struct rpma_conn_private_data data = {NULL, 0};
	log_begin();
	int rc = log_end(rpma_conn_get_private_data(conn, &data));
	jbyteArray bytes = rc != 0 ? NULL : jni_bytes(env, data.ptr, data.ptr == NULL ? 0 : data.len);
	handle_release(handle);
	return bytes;
}

static jint conn_apply_remote_peer_cfg(JNIEnv *env, jclass natives, jlong handle, jlong cfg_handle)
{
	(void)env;
	(void)natives;
	struct rpma_conn *conn = handle_hold(handle);
	if (conn == NULL)
		return HANDLE_CLOSED;
	int rc = HANDLE_CLOSED;
	const struct rpma_peer_cfg *cfg = handle_hold(cfg_handle);
	if (cfg != NULL) {
		log_begin();
		rc = log_end(rpma_conn_apply_remote_peer_cfg(conn, cfg));
		handle_release(cfg_handle);
	}
	handle_release(handle);
	return rc;
}

static jint conn_disconnect(JNIEnv *env, jclass natives, jlong handle)
{
	(void)env;
	(void)natives;
	struct rpma_conn *conn = handle_hold(handle);
	if (conn == NULL)
		return HANDLE_CLOSED;
	log_begin();
	int rc = log_end(rpma_conn_disconnect(conn));
	handle_release(handle);
	return rc;
}

/* the completion queue dies with its connection */
static jint conn_delete(JNIEnv *env, jclass natives, jlong handle, jlong cq_handle)
{
	(void)env;
	(void)natives;
	const jlong handles[] = {handle, cq_handle};
	struct rpma_conn *conn = handle_retire(handles, sizeof(handles) / sizeof(handles[0]));
	if (conn == NULL)
		return HANDLE_CLOSED;
	log_begin();
	return log_end(rpma_conn_delete(&conn));
}

static jstring conn_event_message(JNIEnv *env, jclass natives, jint event)
{
	(void)natives;
	return (*env)->NewStringUTF(env, rpma_utils_conn_event_2str((enum rpma_conn_event)event));
}

static const JNINativeMethod methods[] = {
	{"connRead", "(JJJJJJIJ)I", conn_read},
	{"connWrite", "(JJJJJJIJ)I", conn_write},
	{"connAtomicWrite", "(JJJJIJ)I", conn_atomic_write},
	{"connFlush", "(JJJJIIJ)I", conn_flush},
	{"connNextEvent", "(J)I", conn_next_event},
	{"connGetPrivateData", "(J)[B", conn_get_private_data},
	{"connApplyRemotePeerCfg", "(JJ)I", conn_apply_remote_peer_cfg},
	{"connDisconnect", "(J)I", conn_disconnect},
	{"connDelete", "(JJ)I", conn_delete},
	{"connEventMessage", "(I)Ljava/lang/String;", conn_event_message},
};

const struct jni_table conn_natives = {methods, sizeof(methods) / sizeof(methods[0])};
