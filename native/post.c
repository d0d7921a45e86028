/*
 * post.c -- what is not the fast path of the posts: a full queue, and the post that has to read memory
 */
#include "post.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "log.h"

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

/*
 * By the kernel, because the region may be of a file that has been made shorter, which would end the process here. Java has
 * checked the offset, but in a batch that two threads use at once it may be that of another region: see batch.c.
 */
static int read_value(const struct rpma_mr_local *src, jlong offset, char value[RPMA_ATOMIC_WRITE_ALIGNMENT])
{
	void *region = NULL;
	size_t size = 0;
	int rc = rpma_mr_get_ptr(src, &region);
	if (rc == 0)
		rc = rpma_mr_get_size(src, &size);
	if (rc != 0)
		return rc;
	if (size < RPMA_ATOMIC_WRITE_ALIGNMENT || (size_t)offset > size - RPMA_ATOMIC_WRITE_ALIGNMENT)
		return RPMA_E_INVAL;
	const struct iovec from = {(char *)region + offset, RPMA_ATOMIC_WRITE_ALIGNMENT};
	const struct iovec to = {value, RPMA_ATOMIC_WRITE_ALIGNMENT};
	ssize_t taken = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	if (taken != RPMA_ATOMIC_WRITE_ALIGNMENT)
		return log_error("process_vm_readv()", taken < 0 ? errno : EFAULT);
	return 0;
}

jint post_write_atomic(struct thread *thread, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong src_handle,
		jlong src_offset, jint flags, jlong op_context)
{
	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_remote *dst = handle_marked(dst_handle);
	const struct rpma_mr_local *src = handle_marked(src_handle);
	if (conn == NULL || dst == NULL || src == NULL)
		return HANDLE_CLOSED;
	char value[RPMA_ATOMIC_WRITE_ALIGNMENT];
	int rc = read_value(src, src_offset, value);
	/* not post_result(), which would take this ENOMEM for a full queue */
	if (rc != 0)
		return log_failed(thread, rc);
	return post_result(thread,
			rpma_atomic_write(conn, dst, (size_t)dst_offset, value, flags, op_context_of(op_context)));
}
