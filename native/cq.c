/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq.c -- RpmaCq: the completions of posted operations
 */
#include "cq.h"

#include <errno.h>

#include "call.h"
#include "handle.h"
#include "log.h"
#include "natives.h"
#include "wait.h"

/* RpmaCompletions reads the fields of struct ibv_wc at these offsets */
_Static_assert(sizeof(struct ibv_wc) == 48, "size of ibv_wc");
_Static_assert(offsetof(struct ibv_wc, wr_id) == 0, "wr_id");
_Static_assert(offsetof(struct ibv_wc, status) == 8, "status");
_Static_assert(offsetof(struct ibv_wc, opcode) == 12, "opcode");
_Static_assert(offsetof(struct ibv_wc, vendor_err) == 16, "vendor_err");
_Static_assert(offsetof(struct ibv_wc, byte_len) == 20, "byte_len");
_Static_assert(offsetof(struct ibv_wc, imm_data) == 24, "imm_data");
_Static_assert(offsetof(struct ibv_wc, qp_num) == 28, "qp_num");
_Static_assert(offsetof(struct ibv_wc, src_qp) == 32, "src_qp");
_Static_assert(offsetof(struct ibv_wc, wc_flags) == 36, "wc_flags");
_Static_assert(IBV_WC_WITH_IMM == 2, "IBV_WC_WITH_IMM");

int cq_adopt(struct rpma_cq *cq, jlong *handle)
{
	int fd = -1;
	int rc = rpma_cq_get_fd(cq, &fd);
	if (rc == 0)
		rc = jni_nonblocking(fd) == 0 ? 0 : log_error("fcntl()", errno);
	if (rc != 0)
		return rc;
	*handle = handle_new(cq, fd);
	return *handle < 0 ? (int)*handle : 0;
}

/*
 * Distinguishes "no event" from a channel that can no longer be read, for example because its device was removed.
 * librpma returns RPMA_E_NO_COMPLETION for both, and errno still has the value of the read.
 */
static int waited(const char *what, int rc)
{
	return rc != RPMA_E_NO_COMPLETION || errno == EAGAIN || errno == EINTR ? rc : log_error(what, errno);
}

/* the number of completions taken, 0 if there is none, or librpma's code */
static jint cq_get_wc(JNI_PARAMS, jlong handle, jint capacity, jlong completions)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	jint result = RESULT_CLOSED;
	struct rpma_cq *cq = handle_marked(handle);
	if (__builtin_expect(cq != NULL, 1)) {
		int taken = 0;
		int rc = rpma_cq_get_wc(cq, capacity, jni_pointer(completions), &taken);
		if (rc == 0)
			result = taken;
		else
			result = rc == RPMA_E_NO_COMPLETION ? 0 : log_failed(thread, rc);
	}
	thread_unmark(thread);
	return result;
}

/*
 * The queues of one completion channel. conn is NULL if cq has a channel of its own. rcq is NULL if the channel has one
 * queue. The objects are held. Calls are marked nevertheless: a mark brackets the messages of librpma, and needs no
 * fence, unlike log_begin().
 */
struct channel {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_cq *rcq;
	bool rcq_first;
};

/*
 * the number of completions taken, plus RESULT_SECOND_QUEUE if they are from rcq; 0 if there is none, or librpma's code
 */
static jint channel_take(const void *queues, jint capacity, struct ibv_wc *completions)
{
	const struct channel *channel = queues;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	int taken = 0;
	struct rpma_cq *from = channel->rcq_first ? channel->rcq : channel->cq;
	int rc = rpma_cq_get_wc(from, capacity, completions, &taken);
	if (rc == RPMA_E_NO_COMPLETION && channel->rcq != NULL) {
		from = channel->rcq_first ? channel->cq : channel->rcq;
		rc = rpma_cq_get_wc(from, capacity, completions, &taken);
	}
	jint result;
	if (rc == 0)
		result = from == channel->rcq ? taken | RESULT_SECOND_QUEUE : taken;
	else
		result = rc == RPMA_E_NO_COMPLETION ? 0 : log_failed(thread, rc);
	thread_unmark(thread);
	return result;
}

/* takes a pending event, if there is one, and re-arms its queue; 0 or librpma's code */
static jint channel_arm(const void *queues)
{
	const struct channel *channel = queues;
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return RPMA_E_NOMEM;
	struct rpma_cq *cq = NULL;
	int rc = channel->conn == NULL ? waited("rpma_cq_wait()", rpma_cq_wait(channel->cq))
				       : waited("rpma_conn_wait()", rpma_conn_wait(channel->conn, 0, &cq, NULL));
	jint result = rc == 0 || rc == RPMA_E_NO_COMPLETION ? 0 : log_failed(thread, rc);
	thread_unmark(thread);
	return result;
}

/* takes completions, waiting for the first; returns as channel_take(), or the result of the wait */
static jint cq_await(JNI_PARAMS, jlong conn, jlong cq, jlong rcq, jboolean rcq_first, jboolean armed, jint capacity,
		     jlong completions, jlong events, jint wake_fd, jlong timeout)
{
	struct wait wait;
	int rc = wait_begin(&wait, cq, wake_fd, timeout);
	if (rc != 0)
		return rc;
	wait_watch(&wait, events);
	/* the uses of the handles end together, so the hold on one of them protects all objects */
	const struct channel channel = { handle_held(conn), handle_held(cq), handle_held(rcq), rcq_first };
	const struct wait_source source = { channel_take, channel_arm, &channel };
	jint result = wait_take(&wait, &source, armed, capacity, jni_pointer(completions));
	wait_end(&wait);
	return result;
}

static jint cq_get_fd(JNI_PARAMS, jlong handle)
{
	const struct rpma_cq *cq = call_begin(handle);
	if (cq == NULL)
		return RESULT_CLOSED;
	int fd = -1;
	int rc = call_end(handle, rpma_cq_get_fd(cq, &fd));
	return rc != 0 ? rc : fd;
}

static jstring wc_status_message(JNI_PARAMS, jint status)
{
	return (*env)->NewStringUTF(env, ibv_wc_status_str((enum ibv_wc_status)status));
}

static const JNINativeMethod methods[] = {
	{ "cqGetWc", "(JIJ)I", cq_get_wc },
	{ "cqAwait", "(JJJZZIJJIJ)I", cq_await },
	{ "cqGetFd", "(J)I", cq_get_fd },
	{ "wcStatusMessage", "(I)Ljava/lang/String;", wc_status_message },
};

const struct jni_table cq_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
