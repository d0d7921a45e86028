/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdmacm_cq.c -- RdmaQp: the completions of operations and of receives
 *
 * The object of both handles is the id: the argument send selects the queue.
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>

#include "handle.h"
#include "natives.h"
#include "rdmacm.h"
#include "thread.h"
#include "wait.h"

/* the number of completions taken, or an error */
static jint take(struct ibv_cq *cq, jint capacity, struct ibv_wc *completions)
{
	int taken = ibv_poll_cq(cq, capacity, completions);
	/* the code is the provider's own, not an errno */
	return taken < 0 ? RESULT_ERRNO - EIO : taken;
}

static jint poll_queue(jlong queue, bool send, jint capacity, jlong completions)
{
	struct thread *thread = thread_mark();
	if (thread == NULL)
		return rdmacm_no_memory();
	jint result = RESULT_CLOSED;
	const struct rdma_cm_id *id = handle_marked(queue);
	if (__builtin_expect(id != NULL, 1))
		result = take(send ? id->send_cq : id->recv_cq, capacity, jni_pointer(completions));
	thread_unmark(thread);
	return result;
}

static jint poll_send_comp(JNI_PARAMS, jlong queue, jint capacity, jlong completions)
{
	return poll_queue(queue, true, capacity, completions);
}

static jint poll_recv_comp(JNI_PARAMS, jlong queue, jint capacity, jlong completions)
{
	return poll_queue(queue, false, capacity, completions);
}

/* a queue that a thread waits for */
struct awaited {
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	bool solicited_only;
};

/* takes a pending event, if there is one, and arms the queue, without blocking */
static jint awaited_arm(const void *queue)
{
	const struct awaited *awaited = queue;
	struct ibv_cq *cq = NULL;
	void *context = NULL;
	if (ibv_get_cq_event(awaited->channel, &cq, &context) == 0)
		ibv_ack_cq_events(cq, 1);
	else if (errno != EAGAIN && errno != EINTR)
		return rdmacm_failed();
	errno = ibv_req_notify_cq(awaited->cq, awaited->solicited_only);
	return errno == 0 ? 0 : rdmacm_failed();
}

static jint awaited_take(const void *queue, jint capacity, struct ibv_wc *completions)
{
	const struct awaited *awaited = queue;
	return take(awaited->cq, capacity, completions);
}

/* takes completions, waiting for the first; returns the number taken, or the result of the wait */
static jint await_comp(JNI_PARAMS, jlong queue, jboolean send, jboolean solicited_only, jboolean armed, jint capacity,
		       jlong completions, jlong events, jint wake_fd, jlong timeout)
{
	struct wait wait;
	int rc = wait_begin(&wait, queue, wake_fd, timeout);
	if (rc != 0)
		return rc;
	wait_watch(&wait, events);
	const struct rdma_cm_id *id = handle_held(queue);
	const struct awaited awaited = { send ? id->send_cq : id->recv_cq,
					 send ? id->send_cq_channel : id->recv_cq_channel, solicited_only };
	const struct wait_source source = { awaited_take, awaited_arm, &awaited };
	jint result = wait_take(&wait, &source, armed, capacity, jni_pointer(completions));
	wait_end(&wait);
	return result;
}

static const JNINativeMethod methods[] = {
	{ "pollSendComp", "(JIJ)I", poll_send_comp },
	{ "pollRecvComp", "(JIJ)I", poll_recv_comp },
	{ "awaitComp", "(JZZZIJJIJ)I", await_comp },
};

const struct jni_table rdmacm_cq_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
