/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * post.h -- one function for each kind of post, used by single posts and by batches
 *
 * Call these functions between thread_mark() and thread_unmark(). They look up their handles and call librpma. They
 * return RESULT_POSTED, RESULT_QUEUE_FULL, RESULT_CLOSED or librpma's code. An omitted region has the handle 0.
 */
#ifndef RPMA_JAVA_POST_H
#define RPMA_JAVA_POST_H

#include <jni.h>
#include <librpma.h>
#include <stdbool.h>

#include "handle.h"
#include "jni_util.h"
#include "thread.h"

/*
 * the result of a post that librpma has refused: RESULT_QUEUE_FULL, or rc, whose messages are ready for the exception
 */
jint post_failed(struct thread *thread, int rc);

/* the result of a post, from RESULT_CLOSED or from the result of librpma's function */
static inline jint post_result(struct thread *thread, int rc)
{
	return __builtin_expect(rc == 0 || rc == RESULT_CLOSED, 1) ? rc : post_failed(thread, rc);
}

/* false if the region is closed; an omitted region has the handle 0, for which librpma takes NULL */
static inline bool is_usable(jlong handle, const void *region)
{
	return region != NULL || handle == 0;
}

static inline const void *op_context_of(jlong op_context)
{
	return jni_pointer(op_context);
}

static inline jint post_read(struct thread *thread, jlong conn_handle, jlong dst_handle, jlong dst_offset,
			     jlong src_handle, jlong src_offset, jlong length, jint flags, jlong op_context)
{
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_local *dst = handle_marked(dst_handle);
	const struct rpma_mr_remote *src = handle_marked(src_handle);
	int rc = RESULT_CLOSED;
	if (conn != NULL && is_usable(dst_handle, dst) && is_usable(src_handle, src))
		rc = rpma_read(conn, dst, (size_t)dst_offset, src, (size_t)src_offset, (size_t)length, flags,
			       op_context_of(op_context));
	return post_result(thread, rc);
}

static inline jint post_write(struct thread *thread, jlong conn_handle, jlong dst_handle, jlong dst_offset,
			      jlong src_handle, jlong src_offset, jlong length, jint flags, jlong op_context)
{
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_remote *dst = handle_marked(dst_handle);
	const struct rpma_mr_local *src = handle_marked(src_handle);
	int rc = RESULT_CLOSED;
	if (conn != NULL && is_usable(dst_handle, dst) && is_usable(src_handle, src))
		rc = rpma_write(conn, dst, (size_t)dst_offset, src, (size_t)src_offset, (size_t)length, flags,
				op_context_of(op_context));
	return post_result(thread, rc);
}

static inline jint post_write_with_imm(struct thread *thread, jlong conn_handle, jlong dst_handle, jlong dst_offset,
				       jlong src_handle, jlong src_offset, jlong length, jint flags, jint imm,
				       jlong op_context)
{
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_remote *dst = handle_marked(dst_handle);
	const struct rpma_mr_local *src = handle_marked(src_handle);
	int rc = RESULT_CLOSED;
	if (conn != NULL && is_usable(dst_handle, dst) && is_usable(src_handle, src))
		rc = rpma_write_with_imm(conn, dst, (size_t)dst_offset, src, (size_t)src_offset, (size_t)length, flags,
					 (uint32_t)imm, op_context_of(op_context));
	return post_result(thread, rc);
}

static inline jint post_atomic_write(struct thread *thread, jlong conn_handle, jlong dst_handle, jlong dst_offset,
				     jlong value, jint flags, jlong op_context)
{
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_remote *dst = handle_marked(dst_handle);
	int rc = RESULT_CLOSED;
	if (conn != NULL && dst != NULL)
		rc = rpma_atomic_write(conn, dst, (size_t)dst_offset, (const char *)&value, flags,
				       op_context_of(op_context));
	return post_result(thread, rc);
}

/*
 * rpma_write_atomic() of librpma 0.12, except that the source is read now and not when the write is carried out. The
 * thread is unmarked during the read: after this call, handles that were looked up before it must be looked up again.
 */
jint post_write_atomic(struct thread *thread, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong src_handle,
		       jlong src_offset, jint flags, jlong op_context);

static inline jint post_flush(struct thread *thread, jlong conn_handle, jlong dst_handle, jlong dst_offset,
			      jlong length, jint type, jint flags, jlong op_context)
{
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_remote *dst = handle_marked(dst_handle);
	int rc = RESULT_CLOSED;
	if (conn != NULL && dst != NULL)
		rc = rpma_flush(conn, dst, (size_t)dst_offset, (size_t)length, (enum rpma_flush_type)type, flags,
				op_context_of(op_context));
	return post_result(thread, rc);
}

static inline jint post_send(struct thread *thread, jlong conn_handle, jlong src_handle, jlong offset, jlong length,
			     jint flags, jlong op_context)
{
	struct rpma_conn *conn = handle_marked(conn_handle);
	const struct rpma_mr_local *src = handle_marked(src_handle);
	int rc = RESULT_CLOSED;
	if (conn != NULL && is_usable(src_handle, src))
		rc = rpma_send(conn, src, (size_t)offset, (size_t)length, flags, op_context_of(op_context));
	return post_result(thread, rc);
}

static inline jint post_send_with_imm(struct thread *thread, jlong conn_handle, jlong src_handle, jlong offset,
				      jlong length, jint flags, jint imm, jlong op_context)
{
	struct rpma_conn *conn = handle_marked(conn_handle);
	const struct rpma_mr_local *src = handle_marked(src_handle);
	int rc = RESULT_CLOSED;
	if (conn != NULL && is_usable(src_handle, src))
		rc = rpma_send_with_imm(conn, src, (size_t)offset, (size_t)length, flags, (uint32_t)imm,
					op_context_of(op_context));
	return post_result(thread, rc);
}

static inline jint post_recv(struct thread *thread, jlong conn_handle, jlong dst_handle, jlong offset, jlong length,
			     jlong op_context)
{
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_local *dst = handle_marked(dst_handle);
	int rc = RESULT_CLOSED;
	if (conn != NULL && is_usable(dst_handle, dst))
		rc = rpma_recv(conn, dst, (size_t)offset, (size_t)length, op_context_of(op_context));
	return post_result(thread, rc);
}

static inline jint post_srq_recv(struct thread *thread, jlong srq_handle, jlong dst_handle, jlong offset, jlong length,
				 jlong op_context)
{
	struct rpma_srq *srq = handle_marked(srq_handle);
	struct rpma_mr_local *dst = handle_marked(dst_handle);
	int rc = RESULT_CLOSED;
	if (srq != NULL && is_usable(dst_handle, dst))
		rc = rpma_srq_recv(srq, dst, (size_t)offset, (size_t)length, op_context_of(op_context));
	return post_result(thread, rc);
}

#endif
