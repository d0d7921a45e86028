/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn.c -- RpmaConn: an established connection, and the posts on it
 */
#include <librpma.h>

#include "call.h"
#include "handle.h"
#include "log.h"
#include "natives.h"
#include "post.h"

typedef int fd_getter(const struct rpma_conn *conn, int *fd);

static jint conn_read(JNI_PARAMS, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong src_handle,
		      jlong src_offset, jlong length, jint flags, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_read(thread, conn_handle, dst_handle, dst_offset, src_handle, src_offset, length, flags,
				op_context);
	thread_unmark(thread);
	return result;
}

static jint conn_write(JNI_PARAMS, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong src_handle,
		       jlong src_offset, jlong length, jint flags, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_write(thread, conn_handle, dst_handle, dst_offset, src_handle, src_offset, length, flags,
				 op_context);
	thread_unmark(thread);
	return result;
}

static jint conn_write_with_imm(JNI_PARAMS, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong src_handle,
				jlong src_offset, jlong length, jint flags, jint imm, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_write_with_imm(thread, conn_handle, dst_handle, dst_offset, src_handle, src_offset, length,
					  flags, imm, op_context);
	thread_unmark(thread);
	return result;
}

static jint conn_atomic_write(JNI_PARAMS, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong value,
			      jint flags, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_atomic_write(thread, conn_handle, dst_handle, dst_offset, value, flags, op_context);
	thread_unmark(thread);
	return result;
}

static jint conn_write_atomic(JNI_PARAMS, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong src_handle,
			      jlong src_offset, jint flags, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_write_atomic(thread, conn_handle, dst_handle, dst_offset, src_handle, src_offset, flags,
					op_context);
	thread_unmark(thread);
	return result;
}

static jint conn_flush(JNI_PARAMS, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong length, jint type,
		       jint flags, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_flush(thread, conn_handle, dst_handle, dst_offset, length, type, flags, op_context);
	thread_unmark(thread);
	return result;
}

static jint conn_send(JNI_PARAMS, jlong conn_handle, jlong src_handle, jlong offset, jlong length, jint flags,
		      jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_send(thread, conn_handle, src_handle, offset, length, flags, op_context);
	thread_unmark(thread);
	return result;
}

static jint conn_send_with_imm(JNI_PARAMS, jlong conn_handle, jlong src_handle, jlong offset, jlong length, jint flags,
			       jint imm, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_send_with_imm(thread, conn_handle, src_handle, offset, length, flags, imm, op_context);
	thread_unmark(thread);
	return result;
}

static jint conn_recv(JNI_PARAMS, jlong conn_handle, jlong dst_handle, jlong offset, jlong length, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = post_recv(thread, conn_handle, dst_handle, offset, length, op_context);
	thread_unmark(thread);
	return result;
}

/* the rpma_conn_event of the next event, or librpma's code; RPMA_E_NO_EVENT if there is none */
static jint conn_next_event(JNI_PARAMS, jlong handle)
{
	struct rpma_conn *conn = handle_hold(handle);
	if (conn == NULL)
		return RESULT_CLOSED;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	log_begin();
	int rc = rpma_conn_next_event(conn, &event);
	if (log_says_no_event(thread_get(), rc)) {
		log_discard();
		rc = RPMA_E_NO_EVENT;
	} else {
		(void)log_end(rc);
	}
	handle_release(handle);
	return rc != 0 ? rc : (jint)event;
}

/* returns the number of bytes that it has filled in; the array has room for 255 */
static jint conn_get_private_data(JNI_PARAMS, jlong handle, jbyteArray bytes)
{
	const struct rpma_conn *conn = handle_hold(handle);
	if (conn == NULL)
		return RESULT_CLOSED;
	struct rpma_conn_private_data data = { NULL, 0 };
	log_begin();
	int rc = log_end(rpma_conn_get_private_data(conn, &data));
	if (rc == 0 && data.ptr != NULL)
		(*env)->SetByteArrayRegion(env, bytes, 0, data.len, data.ptr);
	handle_release(handle);
	return rc != 0 ? rc : data.ptr == NULL ? 0 : data.len;
}

static jint conn_apply_remote_peer_cfg(JNI_PARAMS, jlong handle, jlong cfg_handle)
{
	struct rpma_conn *conn = handle_hold(handle);
	if (conn == NULL)
		return RESULT_CLOSED;
	const struct rpma_peer_cfg *cfg = call_begin(cfg_handle);
	int rc = cfg == NULL ? RESULT_CLOSED : call_end(cfg_handle, rpma_conn_apply_remote_peer_cfg(conn, cfg));
	handle_release(handle);
	return rc;
}

static jint conn_disconnect(JNI_PARAMS, jlong handle)
{
	struct rpma_conn *conn = call_begin(handle);
	return conn == NULL ? RESULT_CLOSED : call_end(handle, rpma_conn_disconnect(conn));
}

/* the number of the queue pair, 32 unsigned bits */
static jlong conn_get_qp_num(JNI_PARAMS, jlong handle)
{
	const struct rpma_conn *conn = call_begin(handle);
	if (conn == NULL)
		return RESULT_CLOSED;
	uint32_t qp_num = 0;
	int rc = call_end(handle, rpma_conn_get_qp_num(conn, &qp_num));
	return rc != 0 ? rc : (jlong)qp_num;
}

static jint get_fd(jlong handle, fd_getter *getter)
{
	const struct rpma_conn *conn = call_begin(handle);
	if (conn == NULL)
		return RESULT_CLOSED;
	int fd = -1;
	int rc = call_end(handle, getter(conn, &fd));
	return rc != 0 ? rc : fd;
}

static jint conn_get_event_fd(JNI_PARAMS, jlong handle)
{
	return get_fd(handle, rpma_conn_get_event_fd);
}

/* RPMA_E_NOT_SHARED_CHNL if each queue has its own channel */
static jint conn_get_compl_fd(JNI_PARAMS, jlong handle)
{
	return get_fd(handle, rpma_conn_get_compl_fd);
}

/* frees the completion queues too */
static jint conn_delete(JNI_PARAMS, jlong handle)
{
	struct rpma_conn *conn = call_begin_last(handle);
	return conn == NULL ? RESULT_CLOSED : log_end(rpma_conn_delete(&conn));
}

static jstring conn_event_message(JNI_PARAMS, jint event)
{
	return (*env)->NewStringUTF(env, rpma_utils_conn_event_2str((enum rpma_conn_event)event));
}

static const JNINativeMethod methods[] = {
	{ "connRead", "(JJJJJJIJ)I", conn_read },
	{ "connWrite", "(JJJJJJIJ)I", conn_write },
	{ "connWriteWithImm", "(JJJJJJIIJ)I", conn_write_with_imm },
	{ "connAtomicWrite", "(JJJJIJ)I", conn_atomic_write },
	{ "connWriteAtomic", "(JJJJJIJ)I", conn_write_atomic },
	{ "connFlush", "(JJJJIIJ)I", conn_flush },
	{ "connSend", "(JJJJIJ)I", conn_send },
	{ "connSendWithImm", "(JJJJIIJ)I", conn_send_with_imm },
	{ "connRecv", "(JJJJJ)I", conn_recv },
	{ "connNextEvent", "(J)I", conn_next_event },
	{ "connGetPrivateData", "(J[B)I", conn_get_private_data },
	{ "connApplyRemotePeerCfg", "(JJ)I", conn_apply_remote_peer_cfg },
	{ "connDisconnect", "(J)I", conn_disconnect },
	{ "connGetQpNum", "(J)J", conn_get_qp_num },
	{ "connGetEventFd", "(J)I", conn_get_event_fd },
	{ "connGetComplFd", "(J)I", conn_get_compl_fd },
	{ "connDelete", "(J)I", conn_delete },
	{ "connEventMessage", "(I)Ljava/lang/String;", conn_event_message },
};

const struct jni_table conn_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
