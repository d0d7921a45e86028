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

/* a queue to arm: the next completion, or the next solicited one, creates an event */
struct armed {
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	bool solicited_only;
};

static struct armed to_arm(const struct rdma_cm_id *id, bool send, bool solicited_only)
{
	return send ? (struct armed){ id->send_cq, id->send_cq_channel, solicited_only }
		    : (struct armed){ id->recv_cq, id->recv_cq_channel, solicited_only };
}

/* takes a pending event, if there is one, and arms the queue, without blocking */
static jint arm(const void *armed)
{
	const struct armed *queue = armed;
	struct ibv_cq *of = NULL;
	void *context = NULL;
	if (ibv_get_cq_event(queue->channel, &of, &context) == 0)
		ibv_ack_cq_events(of, 1);
	else if (errno != EAGAIN && errno != EINTR)
		return rdmacm_failed();
	errno = ibv_req_notify_cq(queue->cq, queue->solicited_only);
	return errno == 0 ? 0 : rdmacm_failed();
}

static jint arm_comp(JNI_PARAMS, jlong queue, jboolean send, jboolean solicited_only)
{
	const struct rdma_cm_id *id = handle_hold(queue);
	if (id == NULL)
		return RESULT_CLOSED;
	const struct armed armed = to_arm(id, send, solicited_only);
	jint result = arm(&armed);
	handle_release(queue);
	return result;
}

static jint take_of(const void *armed, jint capacity, struct ibv_wc *completions)
{
	const struct armed *queue = armed;
	return take(queue->cq, capacity, completions);
}

/*
 * waits for the first completion of an armed queue that has none; returns the number taken, or the result of the wait
 */
static jint await_comp(JNI_PARAMS, jlong queue, jboolean send, jboolean solicited_only, jint capacity,
		       jlong completions, jint wake_fd, jlong timeout)
{
	struct wait wait;
	int rc = wait_begin(&wait, queue, wake_fd, timeout);
	if (rc != 0)
		return rc;
	const struct armed armed = to_arm(handle_held(queue), send, solicited_only);
	const struct wait_source source = { take_of, arm, &armed };
	jint result = wait_take(&wait, &source, capacity, jni_pointer(completions));
	wait_end(&wait);
	return result;
}

static const JNINativeMethod methods[] = {
	{ "pollSendComp", "(JIJ)I", poll_send_comp },
	{ "pollRecvComp", "(JIJ)I", poll_recv_comp },
	{ "armComp", "(JZZ)I", arm_comp },
	{ "awaitComp", "(JZZIJIJ)I", await_comp },
};

const struct jni_table rdmacm_cq_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
