/*
 * log.c -- librpma's log messages: the reason of a failure, and the way to Java's logger
 */
#include "log.h"

#include <ctype.h>
#include <errno.h>
#include <librpma.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "natives.h"

#define MESSAGE_SIZE 1024
#define RING_SIZE 256U

struct message {
	enum rpma_log_level level;
	char text[MESSAGE_SIZE];
};

static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;
static struct message ring[RING_SIZE];
static unsigned ring_first;
static unsigned ring_count;
static unsigned dropped;

static void ring_put(enum rpma_log_level level, const char *text, size_t length)
{
	pthread_mutex_lock(&ring_lock);
	if (ring_count == RING_SIZE) {
		dropped++;
	} else {
		struct message *message = &ring[(ring_first + ring_count++) % RING_SIZE];
		message->level = level;
		snprintf(message->text, sizeof(message->text), "%.*s", (int)length, text);
	}
	pthread_mutex_unlock(&ring_lock);
}

static bool ring_take(struct message *message)
{
	pthread_mutex_lock(&ring_lock);
	bool found = true;
	if (ring_count > 0) {
		*message = ring[ring_first];
		ring_first = (ring_first + 1) % RING_SIZE;
		ring_count--;
	} else if (dropped > 0) {
		message->level = RPMA_LOG_LEVEL_WARNING;
		snprintf(message->text, sizeof(message->text), "%u messages of librpma were dropped: they came faster than they were read", dropped);
		dropped = 0;
	} else {
		found = false;
	}
	pthread_mutex_unlock(&ring_lock);
	return found;
}

/* one message a line in the thread's text: the level as a character, then what was said */
static void keep(struct thread *thread, enum rpma_log_level level, const char *text)
{
	size_t room = THREAD_TEXT_SIZE - thread->text_length;
	int length = snprintf(thread->text + thread->text_length, room, "%c%s\n", '0' + (int)level, text);
	if (length > 0 && (size_t)length < room) {
		thread->text_length += (size_t)length;
		return;
	}
	pthread_mutex_lock(&ring_lock);
	dropped++;
	pthread_mutex_unlock(&ring_lock);
}

/* a message ends with a newline; others, and whatever else controls a terminal, come from the caller's arguments */
static void make_line(char *text)
{
	size_t length = strlen(text);
	if (length > 0 && text[length - 1] == '\n')
		text[length - 1] = '\0';
	for (; *text != '\0'; text++) {
		if (iscntrl((unsigned char)*text))
			*text = ' ';
	}
}

__attribute__((format(printf, 5, 6))) static void receive(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name, const char *message_format, ...)
{
	/* librpma reads errno after it has logged, and so does the shim */
	int error = errno;
	char text[MESSAGE_SIZE];
	va_list arguments;
	va_start(arguments, message_format);
	int length = vsnprintf(text, sizeof(text), message_format, arguments);
	va_end(arguments);
	(void)file_name;
	(void)line_no;
	(void)function_name;
	if (length < 0)
		text[0] = '\0';
	make_line(text);

	struct thread *thread = thread_get();
	if (thread != NULL && (thread->in_call || thread->mark % 2 == 1))
		keep(thread, level, text);
	else
		ring_put(level, text, strlen(text));
	errno = error;
}

static void publish(const struct thread *thread)
{
	const char *line = thread->text;
	const char *end = thread->text + thread->text_length;
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		if (newline == NULL)
			return;
		ring_put((enum rpma_log_level)(*line - '0'), line + 1, (size_t)(newline - line - 1));
		line = newline + 1;
	}
}

void log_begin(void)
{
	struct thread *thread = thread_get();
	if (thread == NULL)
		return;
	thread->text_length = 0;
	thread->in_call = true;
}

int log_end(int rc)
{
	struct thread *thread = thread_get();
	if (thread == NULL)
		return rc;
	thread->in_call = false;
	publish(thread);
	return rc;
}

int log_failed(struct thread *thread, int rc)
{
	publish(thread);
	return rc;
}

bool log_says(const struct thread *thread, int error)
{
	if (thread->text_length == 0)
		return false;
	char reason[256];
	/* the GNU form, which need not use the buffer */
	const char *said = strerror_r(error, reason, sizeof(reason));
	return memmem(thread->text, thread->text_length, said, strlen(said)) != NULL;
}

void log_discard(void)
{
	struct thread *thread = thread_get();
	if (thread == NULL)
		return;
	thread->text_length = 0;
	thread->in_call = false;
}

/* the messages of this thread's last call, a line each */
static jbyteArray last_messages(JNIEnv *env, jclass natives)
{
	(void)natives;
	const struct thread *thread = thread_get();
	if (thread == NULL)
		return NULL;
	return jni_bytes(env, thread->text, (jsize)thread->text_length);
}

static jboolean has_messages(JNIEnv *env, jclass natives)
{
	(void)env;
	(void)natives;
	pthread_mutex_lock(&ring_lock);
	jboolean found = ring_count > 0 || dropped > 0;
	pthread_mutex_unlock(&ring_lock);
	return found;
}

/* the oldest message of the ring, its level as the first character, or NULL when there is none */
static jbyteArray next_message(JNIEnv *env, jclass natives)
{
	(void)natives;
	struct message message;
	if (!ring_take(&message))
		return NULL;
	char line[MESSAGE_SIZE + 1];
	int length = snprintf(line, sizeof(line), "%c%s", '0' + (int)message.level, message.text);
	return jni_bytes(env, line, length < (int)sizeof(line) ? length : (int)sizeof(line) - 1);
}

static jbyteArray errno_message(JNIEnv *env, jclass natives, jint error)
{
	(void)natives;
	char buffer[256];
	const char *text = strerror_r(error, buffer, sizeof(buffer));
	return jni_bytes(env, text, (jsize)strlen(text));
}

static jbyteArray error_message(JNIEnv *env, jclass natives, jint code)
{
	(void)natives;
	const char *text = rpma_err_2str(code);
	return jni_bytes(env, text, (jsize)strlen(text));
}

static const JNINativeMethod methods[] = {
	{"lastMessages", "()[B", last_messages},
	{"hasMessages", "()Z", has_messages},
	{"nextMessage", "()[B", next_message},
	{"errnoMessage", "(I)[B", errno_message},
	{"errorMessage", "(I)[B", error_message},
};

const struct jni_table log_natives = {methods, sizeof(methods) / sizeof(methods[0])};

int log_init(void)
{
	return rpma_log_set_function(receive);
}

void log_fini(void)
{
	(void)rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION);
}
