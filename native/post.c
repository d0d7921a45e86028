/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * post.c -- the slow paths of posts: a full queue, and the post that reads memory
 */
#include "post.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "log.h"

/*
 * librpma reports the reason of a failed post only in its log. If the queue is full, a provider fails with ENOMEM;
 * soft-RoCE's native flush and native atomic write fail with ENOSPC.
 */
jint post_failed(struct thread *thread, int rc)
{
	int error = log_errno(thread);
	if (rc != RPMA_E_PROVIDER || (error != ENOMEM && error != ENOSPC))
		return log_failed(thread, rc);
	log_discard();
	return RESULT_QUEUE_FULL;
}

/*
 * Java has checked the offset, but if two threads use a batch at once, it can be the offset of another region: see
 * batch.c
 */
static int find_value(const struct rpma_mr_local *src, jlong offset, void **value)
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
	*value = (char *)region + offset;
	return 0;
}

/* through the kernel, because a direct access would end the process if the region's file was truncated; 0 or errno */
static int read_value(void *from, char value[RPMA_ATOMIC_WRITE_ALIGNMENT])
{
	const struct iovec source = { from, RPMA_ATOMIC_WRITE_ALIGNMENT };
	const struct iovec target = { value, RPMA_ATOMIC_WRITE_ALIGNMENT };
	ssize_t taken = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
	if (taken == RPMA_ATOMIC_WRITE_ALIGNMENT)
		return 0;
	return taken < 0 ? errno : EFAULT;
}

jint post_write_atomic(struct thread *thread, jlong conn_handle, jlong dst_handle, jlong dst_offset, jlong src_handle,
		       jlong src_offset, jint flags, jlong op_context)
{
	const struct rpma_mr_local *src = handle_marked(src_handle);
	if (src == NULL)
		return RESULT_CLOSED;
	void *from = NULL;
	int rc = find_value(src, src_offset, &from);
	if (rc != 0)
		return log_failed(thread, rc);

	/* not marked during the read: the page can belong to a slow file, and each close would wait. If the region is
	 * closed meanwhile, the address can belong to other memory; the value is then discarded below. */
	thread_unmark(thread);
	char value[RPMA_ATOMIC_WRITE_ALIGNMENT];
	int error = read_value(from, value);
	(void)thread_mark();

	struct rpma_conn *conn = handle_marked(conn_handle);
	struct rpma_mr_remote *dst = handle_marked(dst_handle);
	if (conn == NULL || dst == NULL || handle_marked(src_handle) == NULL)
		return RESULT_CLOSED;
	/* not post_result(), which would take an ENOMEM of process_vm_readv() for a full queue */
	if (error != 0)
		return log_failed(thread, log_error("process_vm_readv()", error));
	return post_result(thread,
			   rpma_atomic_write(conn, dst, (size_t)dst_offset, value, flags, op_context_of(op_context)));
}
