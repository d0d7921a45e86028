/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batch.c -- RpmaBatch: many posts in one downcall
 *
 * Two threads must not use one batch at once. If they do, the fields of their records can mix. This can break their
 * connections, but not the process. Java has checked each field, and the shim reads each field once. Each field for a
 * handle contains handles of one kind of object in all operations. Only the offset and the length can exceed the
 * region. The device refuses such a range. If the shim itself reads the region, find_value() in post.c refuses the
 * offset.
 */
#include <librpma.h>

#include "handle.h"
#include "natives.h"
#include "post.h"

/* the maximum number of posts under one mark, because each close waits for the mark */
#define AT_ONCE 64

/* RpmaBatch.Op has the same order */
enum op { READ, WRITE, WRITE_WITH_IMM, ATOMIC_WRITE, WRITE_ATOMIC, FLUSH, SEND, SEND_WITH_IMM, RECV, SRQ_RECV };

/* a record of RpmaBatch; a field that the operation does not use contains 0 or an old value */
struct record {
	jlong what; /* from the lowest bit: 8 bits operation, 8 flags, 16 type of flush, 32 immediate data */
	jlong conn;
	jlong srq;
	jlong local;
	jlong local_offset; /* or the value of an atomic write */
	jlong remote;
	jlong remote_offset;
	jlong length;
	jlong op_context;
};

static jint post(struct thread *thread, const volatile struct record *r)
{
	jlong what = r->what;
	jint flags = (jint)(what >> 8 & 0xff);
	jint type = (jint)(what >> 16 & 0xffff);
	jint imm = (jint)(what >> 32);
	switch ((enum op)(what & 0xff)) {
	case READ:
		return post_read(thread, r->conn, r->local, r->local_offset, r->remote, r->remote_offset, r->length,
				 flags, r->op_context);
	case WRITE:
		return post_write(thread, r->conn, r->remote, r->remote_offset, r->local, r->local_offset, r->length,
				  flags, r->op_context);
	case WRITE_WITH_IMM:
		return post_write_with_imm(thread, r->conn, r->remote, r->remote_offset, r->local, r->local_offset,
					   r->length, flags, imm, r->op_context);
	case ATOMIC_WRITE:
		return post_atomic_write(thread, r->conn, r->remote, r->remote_offset, r->local_offset, flags,
					 r->op_context);
	case WRITE_ATOMIC:
		return post_write_atomic(thread, r->conn, r->remote, r->remote_offset, r->local, r->local_offset, flags,
					 r->op_context);
	case FLUSH:
		return post_flush(thread, r->conn, r->remote, r->remote_offset, r->length, type, flags, r->op_context);
	case SEND:
		return post_send(thread, r->conn, r->local, r->local_offset, r->length, flags, r->op_context);
	case SEND_WITH_IMM:
		return post_send_with_imm(thread, r->conn, r->local, r->local_offset, r->length, flags, imm,
					  r->op_context);
	case RECV:
		return post_recv(thread, r->conn, r->local, r->local_offset, r->length, r->op_context);
	case SRQ_RECV:
		return post_srq_recv(thread, r->srq, r->local, r->local_offset, r->length, r->op_context);
	}
	return RPMA_E_INVAL;
}

/* posts until a post fails; adds the number of posts to *done, and returns the result of the failed post, or 0 */
static jint post_some(const volatile struct record *records, jint count, jint *done)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = 0;
	jint i = 0;
	while (i < count && (result = post(thread, &records[i])) == RESULT_POSTED)
		i++;
	thread_unmark(thread);
	*done += i;
	return result;
}

/* lower half: the number of posts; upper half: the result of the post that failed, or 0 */
static jlong batch_post(JNI_PARAMS, jlong address, jlong range)
{
	const volatile struct record *records = jni_pointer(address);
	jint from = (jint)(range >> 32);
	jint to = (jint)range;
	jint next = from;
	jint result = 0;
	while (next < to && result == 0)
		result = post_some(&records[next], to - next < AT_ONCE ? to - next : AT_ONCE, &next);
	return (jlong)((uint64_t)(uint32_t)result << 32 | (uint32_t)(next - from));
}

static const JNINativeMethod methods[] = {
	{ "batchPost", "(JJ)J", batch_post },
};

const struct jni_table batch_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
