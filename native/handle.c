/*
 * handle.c -- the handles that Java holds instead of pointers
 */
#include "handle.h"

#include <errno.h>
#include <librpma.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "log.h"
#include "natives.h"
#include "thread.h"

#define NO_ENTRY UINT32_MAX
/* a handle must stay positive as a jlong; an entry whose generations are used up is not used again */
#define LAST_GENERATION 0x7fffffffU

struct handle_entry *_Atomic handle_chunks[HANDLE_CHUNKS];

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hold_released = PTHREAD_COND_INITIALIZER;
static uint32_t chunk_count;
static uint32_t first_free = NO_ENTRY;
static jint open_count;

static int add_chunk(void)
{
	if (chunk_count == HANDLE_CHUNKS)
		return RPMA_E_NOMEM;
	struct handle_entry *chunk = calloc(HANDLE_CHUNK_SIZE, sizeof(*chunk));
	if (chunk == NULL)
		return RPMA_E_NOMEM;
	uint32_t base = chunk_count << HANDLE_CHUNK_BITS;
	for (uint32_t i = 0; i < HANDLE_CHUNK_SIZE; i++)
		chunk[i].next_free = i + 1 < HANDLE_CHUNK_SIZE ? base + i + 1 : first_free;
	first_free = base;
	atomic_store_explicit(&handle_chunks[chunk_count++], chunk, memory_order_release);
	return 0;
}

static jlong take_entry(void *object, int wait_fd)
{
	if (first_free == NO_ENTRY && add_chunk() != 0)
		return RPMA_E_NOMEM;
	uint32_t index = first_free;
	struct handle_entry *entry = handle_entry((jlong)index);
	first_free = entry->next_free;
	entry->object = object;
	entry->wait_fd = wait_fd;
	entry->close_fd = -1;
	uint32_t generation = atomic_load_explicit(&entry->generation, memory_order_relaxed) + 1;
	atomic_store_explicit(&entry->generation, generation, memory_order_release);
	open_count++;
	return (jlong)generation << 32 | index;
}

jlong handle_new(void *object, int wait_fd)
{
	pthread_mutex_lock(&table_lock);
	jlong handle = take_entry(object, wait_fd);
	pthread_mutex_unlock(&table_lock);
	return handle;
}

void *handle_hold(jlong handle)
{
	void *object = NULL;
	pthread_mutex_lock(&table_lock);
	struct handle_entry *entry = handle_entry(handle);
	if (handle_is_open(entry, handle)) {
		entry->holds++;
		object = entry->object;
	}
	pthread_mutex_unlock(&table_lock);
	return object;
}

void handle_release(jlong handle)
{
	pthread_mutex_lock(&table_lock);
	struct handle_entry *entry = handle_entry(handle);
	if (--entry->holds == 0 && !handle_is_open(entry, handle))
		pthread_cond_broadcast(&hold_released);
	pthread_mutex_unlock(&table_lock);
}

int handle_hold_fd(jlong handle, int *wait_fd)
{
	int rc = HANDLE_CLOSED;
	pthread_mutex_lock(&table_lock);
	struct handle_entry *entry = handle_entry(handle);
	if (handle_is_open(entry, handle)) {
		entry->holds++;
		*wait_fd = entry->wait_fd;
		rc = 0;
	}
	pthread_mutex_unlock(&table_lock);
	return rc;
}

int handle_hold_fds(jlong handle, int *wait_fd, int *close_fd)
{
	int rc = HANDLE_CLOSED;
	pthread_mutex_lock(&table_lock);
	struct handle_entry *entry = handle_entry(handle);
	if (handle_is_open(entry, handle)) {
		if (entry->close_fd < 0)
			entry->close_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		rc = entry->close_fd < 0 ? log_error("eventfd()", errno) : 0;
		if (rc == 0) {
			entry->holds++;
			*wait_fd = entry->wait_fd;
			*close_fd = entry->close_fd;
		}
	}
	pthread_mutex_unlock(&table_lock);
	return rc;
}

/* from here on no new use begins; waits under way are woken */
static void end_entry(struct handle_entry *entry)
{
	uint32_t generation = atomic_load_explicit(&entry->generation, memory_order_relaxed);
	atomic_store_explicit(&entry->generation, generation + 1, memory_order_release);
	/* the eventfd's count starts at 0, so this cannot fail, and a second write never comes */
	if (entry->close_fd >= 0)
		eventfd_write(entry->close_fd, 1);
}

static void free_entry(struct handle_entry *entry, jlong handle)
{
	if (entry->close_fd >= 0)
		close(entry->close_fd);
	entry->close_fd = -1;
	entry->object = NULL;
	open_count--;
	if (atomic_load_explicit(&entry->generation, memory_order_relaxed) >= LAST_GENERATION - 1)
		return;
	entry->next_free = first_free;
	first_free = (uint32_t)handle;
}

void *handle_retire(const jlong *handles, int count)
{
	pthread_mutex_lock(&table_lock);
	const struct handle_entry *first = handle_entry(handles[0]);
	if (!handle_is_open(first, handles[0])) {
		pthread_mutex_unlock(&table_lock);
		return NULL;
	}
	void *object = first->object;
	for (int i = 0; i < count; i++) {
		if (handles[i] != 0)
			end_entry(handle_entry(handles[i]));
	}
	for (int i = 0; i < count; i++) {
		while (handles[i] != 0 && handle_entry(handles[i])->holds > 0)
			pthread_cond_wait(&hold_released, &table_lock);
	}
	pthread_mutex_unlock(&table_lock);

	thread_wait_unmarked();

	pthread_mutex_lock(&table_lock);
	for (int i = 0; i < count; i++) {
		if (handles[i] != 0)
			free_entry(handle_entry(handles[i]), handles[i]);
	}
	pthread_mutex_unlock(&table_lock);
	return object;
}

void handle_drop(const jlong *handles, int count)
{
	for (int i = 0; i < count; i++) {
		if (handles[i] > 0)
			(void)handle_retire(&handles[i], 1);
	}
}

/* for the tests: how many objects are open */
static jint handle_count(JNIEnv *env, jclass natives)
{
	(void)env;
	(void)natives;
	pthread_mutex_lock(&table_lock);
	jint count = open_count;
	pthread_mutex_unlock(&table_lock);
	return count;
}

static const JNINativeMethod methods[] = {
	{"handleCount", "()I", handle_count},
};

const struct jni_table handle_natives = {methods, sizeof(methods) / sizeof(methods[0])};
