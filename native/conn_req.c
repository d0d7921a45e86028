/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_req.c -- RpmaConnReq: a connection before it is established
 */
#include <errno.h>
#include <librpma.h>
#include <stdbool.h>

#include "call.h"
#include "cq.h"
#include "guard.h"
#include "handle.h"
#include "log.h"
#include "natives.h"
#include "post.h"

/* the handles that Java gets for a connection; RCQ is 0 if there is no receive completion queue */
enum conn_handles { CONN, CQ, RCQ, CONN_HANDLES };

static jlong new_request(struct rpma_peer *peer, const char *address, const char *port, const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;
	log_begin();
	int rc = log_end(rpma_conn_req_new(peer, address, port, cfg, &req));
	if (rc != 0)
		return rc;
	jlong handle = handle_new(req, -1);
	if (handle < 0)
		(void)rpma_conn_req_delete(&req);
	return handle;
}

static jlong new_held_request(jlong peer_handle, const char *address, const char *port, jlong cfg_handle)
{
	const struct rpma_conn_cfg *cfg = NULL;
	if (cfg_handle != 0 && (cfg = handle_hold(cfg_handle)) == NULL)
		return RESULT_CLOSED;
	jlong result = RESULT_CLOSED;
	struct rpma_peer *peer = handle_hold(peer_handle);
	if (peer != NULL) {
		result = new_request(peer, address, port, cfg);
		handle_release(peer_handle);
	}
	if (cfg != NULL)
		handle_release(cfg_handle);
	return result;
}

/* the handle of the configuration can be 0, for the defaults */
static jlong conn_req_new(JNI_PARAMS, jlong peer, jstring address, jstring port, jlong cfg)
{
	const char *address_text = (*env)->GetStringUTFChars(env, address, NULL);
	if (address_text == NULL)
		return RPMA_E_NOMEM;
	jlong result = RPMA_E_NOMEM;
	const char *port_text = (*env)->GetStringUTFChars(env, port, NULL);
	if (port_text != NULL) {
		result = new_held_request(peer, address_text, port_text, cfg);
		(*env)->ReleaseStringUTFChars(env, port, port_text);
	}
	(*env)->ReleaseStringUTFChars(env, address, address_text);
	return result;
}

/* whether the rejection has failed because the client is gone, and nothing else has failed */
static bool has_no_client(const struct thread *thread, int rc)
{
	return rc == RPMA_E_PROVIDER && thread != NULL && log_says_only(thread, "rdma_reject()", EINVAL);
}

static jint conn_req_delete(JNI_PARAMS, jlong handle)
{
	struct rpma_conn_req *req = call_begin_last(handle);
	if (req == NULL)
		return RESULT_CLOSED;
	guard_begin();
	int rc = rpma_conn_req_delete(&req);
	guard_end(false);
	if (!has_no_client(thread_get(), rc))
		return log_end(rc);
	log_discard();
	return 0;
}

/* returns the number of bytes that it has filled in; the array has room for 255 */
static jint conn_req_get_private_data(JNI_PARAMS, jlong handle, jbyteArray bytes)
{
	const struct rpma_conn_req *req = handle_hold(handle);
	if (req == NULL)
		return RESULT_CLOSED;
	struct rpma_conn_private_data data = { NULL, 0 };
	log_begin();
	int rc = log_end(rpma_conn_req_get_private_data(req, &data));
	if (rc == 0 && data.ptr != NULL)
		(*env)->SetByteArrayRegion(env, bytes, 0, data.len, data.ptr);
	handle_release(handle);
	return rc != 0 ? rc : data.ptr == NULL ? 0 : data.len;
}

static int adopt_conn(struct rpma_conn *conn, jlong *handle)
{
	int fd = -1;
	int rc = rpma_conn_get_event_fd(conn, &fd);
	if (rc == 0)
		rc = jni_nonblocking(fd) == 0 ? 0 : log_error("fcntl()", errno);
	if (rc != 0)
		return rc;
	*handle = handle_new(conn, fd);
	return *handle < 0 ? (int)*handle : 0;
}

/* stores a connection and its queues in the table; after a failure the handles that are set are open */
static int adopt(struct rpma_conn *conn, jlong handles[CONN_HANDLES])
{
	struct rpma_cq *cq = NULL;
	struct rpma_cq *rcq = NULL;
	int rc = rpma_conn_get_cq(conn, &cq);
	if (rc == 0)
		rc = rpma_conn_get_rcq(conn, &rcq);
	if (rc == 0)
		rc = adopt_conn(conn, &handles[CONN]);
	if (rc == 0)
		rc = cq_adopt(cq, &handles[CQ]);
	if (rc == 0 && rcq != NULL)
		rc = cq_adopt(rcq, &handles[RCQ]);
	if (rc == 0)
		handle_join(handles[CONN], &handles[CQ], CONN_HANDLES - CQ);
	return rc;
}

static int adopt_or_delete(struct rpma_conn *conn, jlong handles[CONN_HANDLES])
{
	int rc = adopt(conn, handles);
	if (rc != 0) {
		handle_drop(handles, CONN_HANDLES);
		(void)rpma_conn_delete(&conn);
	}
	return rc;
}

static int connect_request(struct rpma_conn_req *req, const struct rpma_conn_private_data *data,
			   jlong handles[CONN_HANDLES])
{
	struct rpma_conn *conn = NULL;
	guard_begin();
	int rc = rpma_conn_req_connect(&req, data, &conn);
	if (rc == 0 && guard_accept() != 0) {
		rc = log_error("rdma_accept()", errno);
		(void)rpma_conn_delete(&conn);
	}
	guard_end(rc == 0);
	return rc != 0 ? rc : adopt_or_delete(conn, handles);
}

/* consumes the request, also if the connection fails; fills in the handles of the connection and its queues */
static jint conn_req_connect(JNI_PARAMS, jlong handle, jbyteArray private_data, jlongArray conn_handles)
{
	jbyte bytes[UINT8_MAX];
	jsize length = private_data == NULL ? 0 : (*env)->GetArrayLength(env, private_data);
	if (length > (jsize)sizeof(bytes))
		return RPMA_E_INVAL;
	if (length > 0)
		(*env)->GetByteArrayRegion(env, private_data, 0, length, bytes);
	struct rpma_conn_private_data data = { bytes, (uint8_t)length };

	struct rpma_conn_req *req = call_begin_last(handle);
	if (req == NULL)
		return RESULT_CLOSED;
	jlong handles[CONN_HANDLES] = { 0 };
	int rc = log_end(connect_request(req, length > 0 ? &data : NULL, handles));
	if (rc == 0)
		(*env)->SetLongArrayRegion(env, conn_handles, 0, CONN_HANDLES, handles);
	return rc;
}

static jint conn_req_recv(JNI_PARAMS, jlong handle, jlong dst_handle, jlong offset, jlong length, jlong op_context)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	struct rpma_conn_req *req = handle_marked(handle);
	struct rpma_mr_local *dst = handle_marked(dst_handle);
	int rc = RESULT_CLOSED;
	if (req != NULL && dst != NULL)
		rc = rpma_conn_req_recv(req, dst, (size_t)offset, (size_t)length, op_context_of(op_context));
	jint result = post_result(thread, rc);
	thread_unmark(thread);
	return result;
}

static const JNINativeMethod methods[] = {
	{ "connReqNew", "(JLjava/lang/String;Ljava/lang/String;J)J", conn_req_new },
	{ "connReqDelete", "(J)I", conn_req_delete },
	{ "connReqGetPrivateData", "(J[B)I", conn_req_get_private_data },
	{ "connReqConnect", "(J[B[J)I", conn_req_connect },
	{ "connReqRecv", "(JJJJJ)I", conn_req_recv },
};

const struct jni_table conn_req_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
