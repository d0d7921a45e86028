/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count.c -- counts calls, and carries out the fault that the test has armed
 */
#include <errno.h>
#include <jni.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "interposer.h"

/* io.rpma.testing.Interposer has the same constants. */
enum action { FAIL, DELAY, LOSE };

enum { DELAY_NANOS = 5 * 1000 * 1000 };

enum { MOST_CALLS = 4096, LONGEST_LINE = 96 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool counting;
static char lines[MOST_CALLS][LONGEST_LINE];
static int line_count;

static const struct call *armed;
static int armed_thread;
static int armed_number;
static enum action armed_action;
static int armed_errno;
static bool hit;

static const char *const object_names[OBJECTS] = {
	[ADDRESS] = "address",
	[AH] = "address handle",
	[CHANNEL] = "completion channel",
	[CQ] = "completion queue",
	[EVENT_CHANNEL] = "event channel",
	[ID] = "id",
	[MAPPING] = "mapping",
	[MEMORY] = "block of memory",
	[MR] = "region",
	[PD] = "protection domain",
	[QP] = "queue pair",
	[SRQ] = "shared receive queue",
};
static int objects[OBJECTS];

/* 0 for a thread whose calls are not counted */
static _Thread_local int thread_number;

static bool has_succeeded(const struct call *call, long result)
{
	switch (call->failure) {
	case NULL_ERRNO:
		return result != 0;
	case ERRNO:
	case ERRNO_AFTER:
		/* a mapping is an address */
		return call->object == MAPPING ? result != -1 : (int)result == 0;
	case NUMBER:
	case NUMBER_AFTER:
		return (int)result == 0;
	default:
		return true;
	}
}

/* The memory of the shim is not counted, because a thread that has ended frees its memory at an unknown time. */
static int change_by(const struct call *call)
{
	if ((call->object == MEMORY || call->object == MAPPING) && strcmp(call->caller, "shim") == 0)
		return 0;
	return call->change;
}

/* An event of a request has a new id. */
static bool is_request(const struct call *call, long event)
{
	return strcmp(call->name, "rdma_get_cm_event") == 0 &&
	       (*(struct rdma_cm_event **)event)->event == RDMA_CM_EVENT_CONNECT_REQUEST;
}

static long call_real(const struct call *call, long a, long b, long c, long d, long e, long f)
{
	/* free(NULL) frees nothing */
	bool frees_nothing = call->failure == UNCOUNTED && a == 0;
	long result = call->real(a, b, c, d, e, f);
	if (frees_nothing || !has_succeeded(call, result))
		return result;
	int error = errno;
	pthread_mutex_lock(&lock);
	if (counting)
		objects[call->object] += change_by(call);
	if (counting && is_request(call, b))
		objects[ID]++;
	pthread_mutex_unlock(&lock);
	errno = error;
	return result;
}

/* Counts a call; whether the fault is for this call. */
static bool count(struct call *call)
{
	pthread_mutex_lock(&lock);
	bool is_armed = false;
	if (counting) {
		int number = ++call->counts[thread_number];
		is_armed = call == armed && thread_number == armed_thread && number == armed_number;
		hit = hit || is_armed;
		if (line_count == MOST_CALLS)
			die("more than %d calls", MOST_CALLS);
		snprintf(lines[line_count++], LONGEST_LINE, "%s %s %d %d", call->caller, call->name, thread_number,
			 number);
	}
	pthread_mutex_unlock(&lock);
	return is_armed;
}

static long fail(const struct call *call, long a, long b, long c, long d, long e, long f)
{
	switch (call->failure) {
	case ERRNO_AFTER:
		(void)call_real(call, a, b, c, d, e, f);
		/* fall through */
	case ERRNO:
		errno = armed_errno;
		return -1;
	case NULL_ERRNO:
		errno = armed_errno;
		return 0;
	case NUMBER_AFTER:
		(void)call_real(call, a, b, c, d, e, f);
		/* fall through */
	case NUMBER:
		errno = armed_errno;
		return armed_errno;
	case NEGATIVE:
		return -armed_errno;
	case BAD_REQUEST:
		*(long *)c = b;
		return armed_errno;
	case NOTHING:
	default:
		die("%s can't fail", call->name);
	}
}

static long delay(const struct call *call, long a, long b, long c, long d, long e, long f)
{
	const struct timespec time = { 0, DELAY_NANOS };
	nanosleep(&time, NULL);
	return call_real(call, a, b, c, d, e, f);
}

/* Takes an event as if it had never come. */
static long lose(const struct call *call, long a, long b, long c, long d, long e, long f)
{
	long result = call_real(call, a, b, c, d, e, f);
	if ((int)result != 0)
		return result;
	if (strcmp(call->name, "rdma_get_cm_event") == 0)
		call_named(call->caller, "rdma_ack_cm_event")->real(*(long *)b, 0, 0, 0, 0, 0);
	else
		call_named(call->caller, "ibv_ack_cq_events")->real(*(long *)b, 1, 0, 0, 0, 0);
	errno = EAGAIN;
	return -1;
}

long intercept(struct call *call, long a, long b, long c, long d, long e, long f)
{
	if (thread_number == 0)
		return call->real(a, b, c, d, e, f);
	if (call->failure == UNCOUNTED || !count(call))
		return call_real(call, a, b, c, d, e, f);
	switch (armed_action) {
	case FAIL:
		return fail(call, a, b, c, d, e, f);
	case DELAY:
		return delay(call, a, b, c, d, e, f);
	default:
		return lose(call, a, b, c, d, e, f);
	}
}

JNIEXPORT void JNICALL Java_io_rpma_testing_Interposer_redirect(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	redirect();
}

JNIEXPORT void JNICALL Java_io_rpma_testing_Interposer_countThread(JNIEnv *env, jclass class, jint number)
{
	(void)env;
	(void)class;
	thread_number = number;
}

static void start(const struct call *call, int thread, int number, enum action action, int error)
{
	pthread_mutex_lock(&lock);
	reset_counts();
	memset(objects, 0, sizeof(objects));
	line_count = 0;
	armed = call;
	armed_thread = thread;
	armed_number = number;
	armed_action = action;
	armed_errno = error;
	hit = false;
	counting = true;
	pthread_mutex_unlock(&lock);
}

JNIEXPORT void JNICALL Java_io_rpma_testing_Interposer_record(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	start(NULL, 0, 0, FAIL, 0);
}

JNIEXPORT void JNICALL Java_io_rpma_testing_Interposer_arm(JNIEnv *env, jclass class, jstring caller, jstring name,
							   jint thread, jint number, jint action, jint error)
{
	(void)class;
	const char *caller_text = (*env)->GetStringUTFChars(env, caller, NULL);
	const char *name_text = (*env)->GetStringUTFChars(env, name, NULL);
	const struct call *call = call_named(caller_text, name_text);
	if (call == NULL)
		die("no call of %s to %s", caller_text, name_text);
	(*env)->ReleaseStringUTFChars(env, name, name_text);
	(*env)->ReleaseStringUTFChars(env, caller, caller_text);
	start(call, thread, number, (enum action)action, error);
}

JNIEXPORT jboolean JNICALL Java_io_rpma_testing_Interposer_isHit(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	pthread_mutex_lock(&lock);
	bool result = hit;
	pthread_mutex_unlock(&lock);
	return result;
}

JNIEXPORT void JNICALL Java_io_rpma_testing_Interposer_stop(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	pthread_mutex_lock(&lock);
	counting = false;
	pthread_mutex_unlock(&lock);
}

/* The numbers of objects made and not freed, as "1 id, 2 region". */
JNIEXPORT jstring JNICALL Java_io_rpma_testing_Interposer_live(JNIEnv *env, jclass class)
{
	(void)class;
	char text[512] = "";
	size_t length = 0;
	pthread_mutex_lock(&lock);
	for (int i = NO_OBJECT + 1; i < OBJECTS; i++)
		if (objects[i] != 0)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%d %s",
						   length == 0 ? "" : ", ", objects[i], object_names[i]);
	pthread_mutex_unlock(&lock);
	return (*env)->NewStringUTF(env, text);
}

JNIEXPORT jint JNICALL Java_io_rpma_testing_Interposer_count(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	pthread_mutex_lock(&lock);
	jint result = line_count;
	pthread_mutex_unlock(&lock);
	return result;
}

JNIEXPORT jstring JNICALL Java_io_rpma_testing_Interposer_call(JNIEnv *env, jclass class, jint index)
{
	(void)class;
	pthread_mutex_lock(&lock);
	char line[LONGEST_LINE];
	memcpy(line, lines[index], sizeof(line));
	pthread_mutex_unlock(&lock);
	return (*env)->NewStringUTF(env, line);
}

JNIEXPORT jboolean JNICALL Java_io_rpma_testing_Interposer_canFail(JNIEnv *env, jclass class, jstring caller,
								   jstring name)
{
	(void)class;
	const char *caller_text = (*env)->GetStringUTFChars(env, caller, NULL);
	const char *name_text = (*env)->GetStringUTFChars(env, name, NULL);
	const struct call *call = call_named(caller_text, name_text);
	bool can = call != NULL && call->failure != NOTHING;
	(*env)->ReleaseStringUTFChars(env, name, name_text);
	(*env)->ReleaseStringUTFChars(env, caller, caller_text);
	return can;
}
