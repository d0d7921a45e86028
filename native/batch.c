/*
 * batch.c -- RpmaBatch: many posts in one downcall
 *
 * Two threads that use one batch at once, which they must not, can mix the fields of their records. This can break their
 * connections, but not the process: each field has passed Java's checks, is read once, and is of one kind whatever the operation,
 * so that no handle is taken for that of another kind of object. Only an offset may be beyond the end of its region by then;
 * that is refused by the device, and where the shim reads a region itself by find_value() in post.c.
 */
#include <librpma.h>

#include "handle.h"
#include "natives.h"
#include "post.h"

/* how many are posted under one mark, because who closes something waits for it */
#define AT_ONCE 64

/* RpmaBatch has the same */
enum op { READ, WRITE, WRITE_WITH_IMM, ATOMIC_WRITE, WRITE_ATOMIC, FLUSH, SEND, SEND_WITH_IMM, RECV, SRQ_RECV };

/* what RpmaBatch records; 0 or what was there before in the fields that an operation has no use for */
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
		return post_read(thread, r->conn, r->local, r->local_offset, r->remote, r->remote_offset, r->length, flags,
				r->op_context);
	case WRITE:
		return post_write(thread, r->conn, r->remote, r->remote_offset, r->local, r->local_offset, r->length, flags,
				r->op_context);
	case WRITE_WITH_IMM:
		return post_write_with_imm(thread, r->conn, r->remote, r->remote_offset, r->local, r->local_offset, r->length,
				flags, imm, r->op_context);
	case ATOMIC_WRITE:
		return post_atomic_write(thread, r->conn, r->remote, r->remote_offset, r->local_offset, flags, r->op_context);
	case WRITE_ATOMIC:
		return post_write_atomic(thread, r->conn, r->remote, r->remote_offset, r->local, r->local_offset, flags,
				r->op_context);
	case FLUSH:
		return post_flush(thread, r->conn, r->remote, r->remote_offset, r->length, type, flags, r->op_context);
	case SEND:
		return post_send(thread, r->conn, r->local, r->local_offset, r->length, flags, r->op_context);
	case SEND_WITH_IMM:
		return post_send_with_imm(thread, r->conn, r->local, r->local_offset, r->length, flags, imm, r->op_context);
	case RECV:
		return post_recv(thread, r->conn, r->local, r->local_offset, r->length, r->op_context);
	case SRQ_RECV:
		return post_srq_recv(thread, r->srq, r->local, r->local_offset, r->length, r->op_context);
	}
	return RPMA_E_INVAL;
}

/* posts until one is refused; adds how many were posted, and returns why the next one was not, or 0 */
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

/* in the lower half how many were posted, in the upper half why the next one was not, or 0 */
static jlong batch_post(JNI_PARAMS, jlong address, jint count)
{
	const volatile struct record *records = jni_pointer(address);
	jint done = 0;
	jint result = 0;
	while (done < count && result == 0)
		result = post_some(&records[done], count - done < AT_ONCE ? count - done : AT_ONCE, &done);
	return (jlong)((uint64_t)(uint32_t)result << 32 | (uint32_t)done);
}

static const JNINativeMethod methods[] = {
	{"batchPost", "(JI)J", batch_post},
};

const struct jni_table batch_natives = {methods, sizeof(methods) / sizeof(methods[0])};
