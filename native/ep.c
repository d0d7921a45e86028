/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep.c -- RpmaEp: an endpoint that listens for connection requests
 */
#include <errno.h>
#include <librpma.h>
#include <rdma/rdma_cma.h>

#include "call.h"
#include "guard.h"
#include "handle.h"
#include "log.h"
#include "natives.h"

static int listen_nonblocking(struct rpma_peer *peer, const char *address, const char *port, struct rpma_ep **ep,
			      int *fd)
{
	int rc = rpma_ep_listen(peer, address, port, ep);
	if (rc != 0)
		return rc;
	rc = rpma_ep_get_fd(*ep, fd);
	if (rc == 0)
		rc = jni_nonblocking(*fd) == 0 ? 0 : log_error("fcntl()", errno);
	if (rc != 0)
		(void)rpma_ep_shutdown(ep);
	return rc;
}

static jlong ep_listen(JNI_PARAMS, jlong peer_handle, jstring address, jstring port)
{
	const char *address_text = (*env)->GetStringUTFChars(env, address, NULL);
	if (address_text == NULL)
		return RPMA_E_NOMEM;
	const char *port_text = (*env)->GetStringUTFChars(env, port, NULL);
	if (port_text == NULL) {
		(*env)->ReleaseStringUTFChars(env, address, address_text);
		return RPMA_E_NOMEM;
	}
	jlong result = RESULT_CLOSED;
	struct rpma_peer *peer = call_begin(peer_handle);
	if (peer != NULL) {
		struct rpma_ep *ep = NULL;
		int fd = -1;
		result = call_end(peer_handle, listen_nonblocking(peer, address_text, port_text, &ep, &fd));
		if (result == 0)
			result = handle_new(ep, fd);
		if (result < 0 && ep != NULL)
			(void)rpma_ep_shutdown(&ep);
	}
	(*env)->ReleaseStringUTFChars(env, port, port_text);
	(*env)->ReleaseStringUTFChars(env, address, address_text);
	return result;
}

static jint ep_shutdown(JNI_PARAMS, jlong handle)
{
	struct rpma_ep *ep = call_begin_last(handle);
	return ep == NULL ? RESULT_CLOSED : log_end(rpma_ep_shutdown(&ep));
}

/*
 * An event that is not a request is from a client that gave up before it was accepted. librpma has taken it from the
 * queue, and the endpoint remains usable, unless the event reports the removal of the device.
 */
static bool is_passing(const struct thread *thread, int rc)
{
	return rc == RPMA_E_INVAL && thread != NULL && log_says(thread, "Unexpected event received") &&
	       !log_says(thread, rdma_event_str(RDMA_CM_EVENT_DEVICE_REMOVAL));
}

static jlong take_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;
	log_begin();
	int rc = rpma_ep_next_conn_req(ep, cfg, &req);
	if (log_says_no_event(thread_get(), rc)) {
		log_discard();
		return RPMA_E_NO_EVENT;
	}
	if (is_passing(thread_get(), rc)) {
		/* not a failure: no exception contains the message, so the log gets it */
		(void)log_end(0);
		return RPMA_E_NO_EVENT;
	}
	if (log_end(rc) != 0)
		return rc;
	jlong handle = handle_new(req, -1);
	if (handle < 0)
		(void)rpma_conn_req_delete(&req);
	return handle;
}

static jlong next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg)
{
	guard_begin();
	jlong result = take_conn_req(ep, cfg);
	guard_end(result >= 0);
	return result;
}

/* the handle of the configuration can be 0, for the defaults; RPMA_E_NO_EVENT if there is no request */
static jlong ep_next_conn_req(JNI_PARAMS, jlong handle, jlong cfg_handle)
{
	const struct rpma_conn_cfg *cfg = NULL;
	if (cfg_handle != 0 && (cfg = handle_hold(cfg_handle)) == NULL)
		return RESULT_CLOSED;
	jlong result = RESULT_CLOSED;
	struct rpma_ep *ep = handle_hold(handle);
	if (ep != NULL) {
		result = next_conn_req(ep, cfg);
		handle_release(handle);
	}
	if (cfg != NULL)
		handle_release(cfg_handle);
	return result;
}

static jint ep_get_fd(JNI_PARAMS, jlong handle)
{
	const struct rpma_ep *ep = call_begin(handle);
	if (ep == NULL)
		return RESULT_CLOSED;
	int fd = -1;
	int rc = call_end(handle, rpma_ep_get_fd(ep, &fd));
	return rc != 0 ? rc : fd;
}

static const JNINativeMethod methods[] = {
	{ "epListen", "(JLjava/lang/String;Ljava/lang/String;)J", ep_listen },
	{ "epShutdown", "(J)I", ep_shutdown },
	{ "epNextConnReq", "(JJ)J", ep_next_conn_req },
	{ "epGetFd", "(J)I", ep_get_fd },
};

const struct jni_table ep_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
