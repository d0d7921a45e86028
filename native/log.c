/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.c -- librpma's log messages: the reasons of failures, and the path to Java's logger
 */
#include "log.h"

#include <dlfcn.h>
#include <errno.h>
#include <librpma.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "natives.h"

#define MESSAGE_SIZE 1024
/* a message with its level, file, line and function, divided by unit separators, which no text contains */
#define LINE_SIZE 1280
#define RING_SIZE 256U
/* the last error of Linux */
#define LAST_ERRNO EHWPOISON
#define REASON_SIZE 256
/* the longest time that the end of the process waits for blocked calls of daemon threads */
#define EXIT_PATIENCE_MS 20
#define OWNER_SIZE 256

typedef _Atomic(const char *) owner_name;

/* in the copy of the shim that was loaded first: the class loader whose copy receives librpma's messages, or NULL */
__attribute__((visibility("default"))) owner_name rpma_java_owner;
/* the class loader of this copy */
static char own_name[OWNER_SIZE];

static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;
static char ring[RING_SIZE][LINE_SIZE];
static unsigned ring_first;
/* changed with the lock; has_messages() reads it without the lock */
static _Atomic unsigned ring_count;
static _Atomic unsigned dropped;
/* whether the threshold lets debug messages through */
static _Atomic bool repeats;

static void ring_put(const char *line, size_t length)
{
	pthread_mutex_lock(&ring_lock);
	if (ring_count == RING_SIZE)
		dropped++;
	else
		snprintf(ring[(ring_first + ring_count++) % RING_SIZE], LINE_SIZE, "%.*s", (int)length, line);
	pthread_mutex_unlock(&ring_lock);
}

static bool ring_take(char line[LINE_SIZE])
{
	pthread_mutex_lock(&ring_lock);
	bool found = true;
	if (ring_count > 0) {
		memcpy(line, ring[ring_first], LINE_SIZE);
		ring_first = (ring_first + 1) % RING_SIZE;
		ring_count--;
	} else if (dropped > 0) {
		snprintf(line, LINE_SIZE,
			 "%c\037\0370\037\037%u messages of librpma were dropped: they were too many at once",
			 '0' + RPMA_LOG_LEVEL_WARNING, dropped);
		dropped = 0;
	} else {
		found = false;
	}
	pthread_mutex_unlock(&ring_lock);
	return found;
}

static void keep(struct thread *thread, const char *line, int error)
{
	if (log_errno(thread) == 0)
		thread->error = error;
	size_t room = THREAD_TEXT_SIZE - thread->text_length;
	int length = snprintf(thread->text + thread->text_length, room, "%s\n", line);
	if (length > 0 && (size_t)length < room) {
		thread->text_length += (size_t)length;
		return;
	}
	pthread_mutex_lock(&ring_lock);
	dropped++;
	pthread_mutex_unlock(&ring_lock);
}

/* the text of an error in English, as of all messages: that of strerror() depends on the locale */
static const char *describe(int error, char buffer[REASON_SIZE])
{
	const char *description = strerrordesc_np(error);
	if (description != NULL)
		return description;
	snprintf(buffer, REASON_SIZE, "Unknown error %d", error);
	return buffer;
}

/*
 * Replaces the text of an error that ends the message, which librpma has made with strerror(), by the one in English.
 * In some languages, two errors have the same text, so the most likely error, errno, is tried first. Returns the error,
 * or 0 if the message ends with none.
 */
static int translate(char text[MESSAGE_SIZE], int likely)
{
	char *reason = NULL;
	for (char *colon = strstr(text, ": "); colon != NULL; colon = strstr(colon + 1, ": "))
		reason = colon + 2;
	if (reason == NULL)
		return 0;
	char buffer[REASON_SIZE];
	for (int error = 1; error <= LAST_ERRNO; error++) {
		if (strcmp(reason, describe(error, buffer)) == 0)
			return error;
	}
	for (int i = 0; i <= LAST_ERRNO; i++) {
		int error = i == 0 ? likely : i;
		if (strcmp(reason, strerror_r(error, buffer, sizeof(buffer))) == 0) {
			snprintf(reason, MESSAGE_SIZE - (size_t)(reason - text), "%s", describe(error, buffer));
			return error;
		}
	}
	return 0;
}

/* removes the newline at the end; other control characters come from the caller's arguments and become blanks */
static void make_line(char *text)
{
	size_t length = strlen(text);
	if (length > 0 && text[length - 1] == '\n')
		text[length - 1] = '\0';
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < ' ' || *text == '\177')
			*text = ' ';
	}
}

__attribute__((format(printf, 5, 6))) static void receive(enum rpma_log_level level, const char *file_name,
							  const int line_no, const char *function_name,
							  const char *message_format, ...)
{
	/* librpma and the shim read errno after a message */
	int error = errno;
	char text[MESSAGE_SIZE];
	va_list arguments;
	va_start(arguments, message_format);
	int length = vsnprintf(text, sizeof(text), message_format, arguments);
	va_end(arguments);
	if (length < 0)
		text[0] = '\0';
	make_line(text);
	int reason = level <= RPMA_LOG_LEVEL_ERROR ? translate(text, error) : 0;
	char line[LINE_SIZE];
	snprintf(line, sizeof(line), "%c\037%s\037%d\037%s\037%s", '0' + (int)level, file_name, line_no, function_name,
		 text);

	struct thread *thread = thread_get();
	if (thread != NULL && (thread->call % 2 == 1 || thread->mark % 2 == 1))
		keep(thread, line, reason);
	else
		ring_put(line, strlen(line));
	errno = error;
}

/* Java's exception contains the warnings and errors of a failed call, so the log repeats them only as debug messages */
static void repeat(char *line, size_t length)
{
	if (line[0] > '0' + RPMA_LOG_LEVEL_WARNING) {
		ring_put(line, length);
	} else if (repeats) {
		char level = line[0];
		line[0] = '0' + RPMA_LOG_LEVEL_DEBUG;
		ring_put(line, length);
		line[0] = level;
	}
}

/*
 * copies the messages of a call that has ended to the ring; after a failure, not the warnings and errors: see repeat()
 */
static void publish(struct thread *thread, bool failed)
{
	char *line = thread->text;
	const char *end = thread->text + thread->text_length;
	while (line < end) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		if (newline == NULL)
			return;
		size_t length = (size_t)(newline - line);
		if (failed)
			repeat(line, length);
		else
			ring_put(line, length);
		line = newline + 1;
	}
}

void log_begin(void)
{
	struct thread *thread = thread_get();
	if (thread == NULL)
		return;
	thread->text_length = 0;
	thread->call = thread->call | 1;
}

int log_end(int rc)
{
	struct thread *thread = thread_get();
	if (thread == NULL)
		return rc;
	thread->call = (thread->call | 1) + 1;
	publish(thread, rc < 0);
	return rc;
}

int log_failed(struct thread *thread, int rc)
{
	publish(thread, true);
	return rc;
}

bool log_says(const struct thread *thread, const char *text)
{
	return memmem(thread->text, thread->text_length, text, strlen(text)) != NULL;
}

int log_errno(const struct thread *thread)
{
	return thread->text_length > 0 ? thread->error : 0;
}

bool log_says_only(const struct thread *thread, const char *what, int error)
{
	static const char failed[] = " failed: ";
	const char *end = thread->text + thread->text_length;
	const char *first = memmem(thread->text, thread->text_length, failed, strlen(failed));
	if (first == NULL || log_errno(thread) != error || !log_says(thread, what))
		return false;
	const char *rest = first + strlen(failed);
	return memmem(rest, (size_t)(end - rest), failed, strlen(failed)) == NULL;
}

bool log_says_no_event(const struct thread *thread, int rc)
{
	return rc == RPMA_E_NO_EVENT ||
	       (rc == RPMA_E_PROVIDER && errno == EAGAIN && thread != NULL && log_says(thread, "rdma_get_cm_event"));
}

int log_error(const char *what, int error)
{
	char reason[REASON_SIZE];
	receive(RPMA_LOG_LEVEL_ERROR, __FILE__, __LINE__, __func__, "%s failed: %s\n", what, describe(error, reason));
	return RPMA_E_PROVIDER;
}

void log_discard(void)
{
	struct thread *thread = thread_get();
	if (thread == NULL)
		return;
	thread->text_length = 0;
	thread->call = (thread->call | 1) + 1;
}

/* the messages of this thread's last call, one per line */
static jbyteArray last_messages(JNI_PARAMS)
{
	const struct thread *thread = thread_get();
	if (thread == NULL)
		return NULL;
	return jni_bytes(env, thread->text, (jsize)thread->text_length);
}

static jint last_errno(JNI_PARAMS)
{
	const struct thread *thread = thread_get();
	return thread == NULL ? 0 : log_errno(thread);
}

static jboolean has_messages(JNI_PARAMS)
{
	return ring_count > 0 || dropped > 0;
}

/* the oldest line of the ring, or NULL if there is none */
static jbyteArray next_message(JNI_PARAMS)
{
	char line[LINE_SIZE];
	return ring_take(line) ? jni_bytes(env, line, (jsize)strlen(line)) : NULL;
}

static jbyteArray errno_message(JNI_PARAMS, jint error)
{
	char reason[REASON_SIZE];
	const char *text = describe(error, reason);
	return jni_bytes(env, text, (jsize)strlen(text));
}

static jbyteArray errno_name(JNI_PARAMS, jint error)
{
	const char *name = strerrorname_np(error);
	return name == NULL ? jni_bytes(env, "", 0) : jni_bytes(env, name, (jsize)strlen(name));
}

static jbyteArray error_message(JNI_PARAMS, jint code)
{
	const char *text = rpma_err_2str(code);
	return jni_bytes(env, text, (jsize)strlen(text));
}

static jint log_set_threshold(JNI_PARAMS, jint threshold, jint level)
{
	log_begin();
	int rc = log_end(rpma_log_set_threshold((enum rpma_log_threshold)threshold, (enum rpma_log_level)level));
	if (rc == 0 && threshold == RPMA_LOG_THRESHOLD)
		repeats = level == RPMA_LOG_LEVEL_DEBUG;
	return rc;
}

/* the level plus one, because levels begin at -1 and a negative result is librpma's code */
static jint log_get_threshold(JNI_PARAMS, jint threshold)
{
	enum rpma_log_level level = RPMA_LOG_DISABLED;
	log_begin();
	int rc = log_end(rpma_log_get_threshold((enum rpma_log_threshold)threshold, &level));
	return rc != 0 ? rc : (jint)level + 1;
}

/* the variable of the first copy, which the dynamic linker finds by its name (DT_SONAME) and never unloads */
static owner_name *owner_of_process(void)
{
	void *first = dlopen("librpma-java.so", RTLD_LAZY | RTLD_NOLOAD);
	void *owner = first == NULL ? NULL : dlsym(first, "rpma_java_owner");
	return owner == NULL ? &rpma_java_owner : owner;
}

/*
 * librpma has one log function for the whole process. Returns NULL if this copy of the shim receives the messages from
 * now on, and otherwise the class loader of the copy that does.
 */
static jbyteArray log_claim(JNI_PARAMS, jbyteArray loader)
{
	jsize length = (*env)->GetArrayLength(env, loader);
	if (length >= (jsize)sizeof(own_name))
		length = sizeof(own_name) - 1;
	(*env)->GetByteArrayRegion(env, loader, 0, length, (jbyte *)own_name);
	own_name[length] = '\0';
	const char *owner = NULL;
	if (!atomic_compare_exchange_strong(owner_of_process(), &owner, own_name) && owner != own_name)
		return jni_bytes(env, owner, (jsize)strlen(owner));
	/* while another thread sets it */
	while (rpma_log_set_function(receive) == RPMA_E_AGAIN)
		continue;
	return NULL;
}

static const JNINativeMethod methods[] = {
	{ "logClaim", "([B)[B", log_claim },
	{ "lastMessages", "()[B", last_messages },
	{ "lastErrno", "()I", last_errno },
	{ "hasMessages", "()Z", has_messages },
	{ "nextMessage", "()[B", next_message },
	{ "errnoMessage", "(I)[B", errno_message },
	{ "errnoName", "(I)[B", errno_name },
	{ "errorMessage", "(I)[B", error_message },
	{ "logSetThreshold", "(II)I", log_set_threshold },
	{ "logGetThreshold", "(I)I", log_get_threshold },
};

const struct jni_table log_natives = { methods, sizeof(methods) / sizeof(methods[0]) };

void log_fini(void)
{
	if (*owner_of_process() == own_name)
		(void)rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION);
}

/*
 * At the end of the process librpma's destructor, which runs after this one, clears the pointer to the log function. A
 * thread that is about to call the log function would jump to address 0. So logging is disabled, and the calls under
 * way are awaited.
 */
__attribute__((destructor)) static void log_end_of_process(void)
{
	if (!thread_is_of_process())
		return;
	(void)rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED);
	thread_wait_unmarked();
	thread_wait_calls(EXIT_PATIENCE_MS);
}
