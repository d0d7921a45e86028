/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle.c -- the handles that Java holds instead of pointers
 */
#include "handle.h"

#include <librpma.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "natives.h"
#include "thread.h"

#define NO_ENTRY UINT32_MAX
/* a handle must be positive as a jlong; an entry that has reached this generation is not used again */
#define LAST_GENERATION 0x7fffffffU
/* the handles that handleEndUses() copies at once */
#define AT_ONCE 256

struct handle_entry handle_entries[HANDLE_ENTRIES];

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hold_released = PTHREAD_COND_INITIALIZER;
/* entry 0 is never used, so the handle 0 has no object */
static uint32_t first_unused = 1;
static uint32_t first_free = NO_ENTRY;
static jint open_count;

/* the index of an unused entry, or NO_ENTRY */
static uint32_t take_index(void)
{
	uint32_t index = first_free;
	if (index != NO_ENTRY)
		first_free = handle_entries[index].next_free;
	else if (first_unused < HANDLE_ENTRIES)
		index = first_unused++;
	return index;
}

/* the generation after that of the handle, in the upper half; the lower half is 0 */
static jlong next_generation(jlong handle)
{
	return (jlong)((uint64_t)((handle >> 32) + 1) << 32);
}

static jlong take_entry(void *object, int wait_fd)
{
	uint32_t index = take_index();
	if (index == NO_ENTRY)
		return RPMA_E_NOMEM;
	struct handle_entry *entry = &handle_entries[index];
	entry->object = object;
	entry->wait_fd = wait_fd;
	entry->close_fd = -1;
	entry->next_part = NO_ENTRY;
	jlong handle = next_generation(atomic_load_explicit(&entry->handle, memory_order_relaxed)) | index;
	atomic_store_explicit(&entry->handle, handle, memory_order_release);
	open_count++;
	return handle;
}

jlong handle_new(void *object, int wait_fd)
{
	if (object == NULL)
		return RPMA_E_UNKNOWN;
	pthread_mutex_lock(&table_lock);
	jlong handle = take_entry(object, wait_fd);
	pthread_mutex_unlock(&table_lock);
	return handle;
}

/*
 * hold() also counts a thread that then finds the handle closed. So the last release of a closed entry wakes all
 * closers, and each checks the counts of its own entries.
 */
static void release(struct handle_entry *entry)
{
	bool is_last = atomic_fetch_sub(&entry->holds, 1) == 1;
	if (!is_last || handle_is_of_object(atomic_load(&entry->handle)))
		return;
	pthread_mutex_lock(&table_lock);
	pthread_cond_broadcast(&hold_released);
	pthread_mutex_unlock(&table_lock);
}

/*
 * NULL if the handle is closed. hold() increments the count and then compares the handle; end_entry() changes the
 * handle, and await_holds() then reads the count. All four accesses are sequentially consistent, so at least one side
 * sees the other. The comparison before the count prevents threads that retry a closed handle from delaying
 * await_uses().
 */
static struct handle_entry *hold(jlong handle)
{
	struct handle_entry *entry = handle_entry(handle);
	if (!handle_is_open(entry, handle))
		return NULL;
	atomic_fetch_add(&entry->holds, 1);
	if (atomic_load(&entry->handle) == handle)
		return entry;
	release(entry);
	return NULL;
}

void *handle_hold(jlong handle)
{
	const struct handle_entry *entry = hold(handle);
	return entry == NULL ? NULL : entry->object;
}

void handle_release(jlong handle)
{
	release(handle_entry(handle));
}

int handle_hold_fd(jlong handle, int *wait_fd)
{
	const struct handle_entry *entry = hold(handle);
	if (entry == NULL)
		return RESULT_CLOSED;
	*wait_fd = entry->wait_fd;
	return 0;
}

/* the caller holds the entry; an entry that was closed meanwhile gets no eventfd, because no close would write to it */
static int make_close_fd(struct handle_entry *entry, jlong handle)
{
	int rc = 0;
	pthread_mutex_lock(&table_lock);
	if (!handle_is_open(entry, handle))
		rc = RESULT_CLOSED;
	else if (entry->close_fd < 0)
		entry->close_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (rc == 0 && entry->close_fd < 0)
		rc = RPMA_E_PROVIDER;
	pthread_mutex_unlock(&table_lock);
	return rc;
}

int handle_hold_fds(jlong handle, int *wait_fd, int *close_fd)
{
	struct handle_entry *entry = hold(handle);
	if (entry == NULL)
		return RESULT_CLOSED;
	int rc = entry->close_fd < 0 ? make_close_fd(entry, handle) : 0;
	*wait_fd = entry->wait_fd;
	*close_fd = entry->close_fd;
	if (rc != 0)
		release(entry);
	return rc;
}

static uint32_t index_of(jlong handle)
{
	return (uint32_t)handle & (HANDLE_ENTRIES - 1);
}

void handle_join(jlong whole, const jlong *parts, int count)
{
	struct handle_entry *entry = handle_entry(whole);
	pthread_mutex_lock(&table_lock);
	for (int i = 0; i < count; i++) {
		if (parts[i] == 0)
			continue;
		handle_entry(parts[i])->next_part = entry->next_part;
		entry->next_part = index_of(parts[i]);
	}
	pthread_mutex_unlock(&table_lock);
}

/* the number in the entry of a handle whose uses are over and whose object is not yet taken */
static jlong retired(jlong handle)
{
	return next_generation(handle) | index_of(handle);
}

/*
 * Prevents new uses of an entry (see hold()), wakes the waits under way, and adds the entry to the list of entries
 * whose uses this thread then awaits. The list uses next_free, because a taken entry is not in the list of free
 * entries.
 */
static void end_entry(uint32_t index, uint32_t *ending)
{
	struct handle_entry *entry = &handle_entries[index];
	atomic_store(&entry->handle, next_generation(atomic_load(&entry->handle)));
	/* can't fail: the count of the eventfd starts at 0, and this is the only write */
	if (entry->close_fd >= 0)
		eventfd_write(entry->close_fd, 1);
	entry->next_free = *ending;
	*ending = index;
}

/* for an object and its parts; the caller has locked the table */
static void end_uses(jlong handle, uint32_t *ending)
{
	if (!handle_is_open(handle_entry(handle), handle))
		return;
	for (uint32_t i = index_of(handle); i != NO_ENTRY; i = handle_entries[i].next_part)
		end_entry(i, ending);
}

static void await_holds(struct handle_entry *entry)
{
	if (atomic_load(&entry->holds) == 0)
		return;
	pthread_mutex_lock(&table_lock);
	while (entry->holds > 0)
		pthread_cond_wait(&hold_released, &table_lock);
	pthread_mutex_unlock(&table_lock);
}

/*
 * Needs one barrier and one wait for marks, however many entries end. The handles are then retired: an object after its
 * parts, which end_uses() has added later, because handle_take() of the object frees the parts.
 */
static void await_uses(uint32_t ending)
{
	if (ending == NO_ENTRY)
		return;
	for (uint32_t i = ending; i != NO_ENTRY; i = handle_entries[i].next_free)
		await_holds(&handle_entries[i]);
	thread_wait_unmarked();
	for (uint32_t i = ending, next; i != NO_ENTRY; i = next) {
		struct handle_entry *entry = &handle_entries[i];
		/* before the object can be taken, which changes the list */
		next = entry->next_free;
		/* no locked instruction: no other thread changes the handle between the end of the uses and the take */
		jlong ended = atomic_load_explicit(&entry->handle, memory_order_relaxed);
		atomic_store_explicit(&entry->handle, ended | i, memory_order_release);
	}
}

static void free_entry(uint32_t index)
{
	struct handle_entry *entry = &handle_entries[index];
	/* without the index, which means that the handle is retired */
	uint64_t generation = (uint64_t)atomic_load_explicit(&entry->handle, memory_order_relaxed) >> 32;
	atomic_store_explicit(&entry->handle, (jlong)(generation << 32), memory_order_relaxed);
	if (entry->close_fd >= 0)
		close(entry->close_fd);
	entry->close_fd = -1;
	entry->object = NULL;
	open_count--;
	if (generation > LAST_GENERATION)
		return;
	entry->next_free = first_free;
	first_free = index;
}

void *handle_take(jlong handle)
{
	struct handle_entry *entry = handle_entry(handle);
	uint32_t ending = NO_ENTRY;
	pthread_mutex_lock(&table_lock);
	end_uses(handle, &ending);
	pthread_mutex_unlock(&table_lock);
	await_uses(ending);

	void *object = NULL;
	pthread_mutex_lock(&table_lock);
	if (handle_is_of_object(handle) && handle_is_of(entry, retired(handle))) {
		object = entry->object;
		for (uint32_t i = index_of(handle); i != NO_ENTRY; i = handle_entries[i].next_part)
			free_entry(i);
	}
	pthread_mutex_unlock(&table_lock);
	return object;
}

void handle_drop(const jlong *handles, int count)
{
	for (int i = 0; i < count; i++) {
		if (handles[i] > 0)
			(void)handle_take(handles[i]);
	}
}

/* copies the handles in parts, because an allocation could fail when the objects are already marked as closed */
static void end_all(JNI_PARAMS, jlongArray handles, jint count)
{
	jlong copy[AT_ONCE];
	uint32_t ending = NO_ENTRY;
	for (jint from = 0; from < count; from += AT_ONCE) {
		jint size = count - from < AT_ONCE ? count - from : AT_ONCE;
		(*env)->GetLongArrayRegion(env, handles, from, size, copy);
		pthread_mutex_lock(&table_lock);
		for (jint i = 0; i < size; i++)
			end_uses(copy[i], &ending);
		pthread_mutex_unlock(&table_lock);
	}
	await_uses(ending);
}

/* the number of open objects */
static jint handle_count(JNI_PARAMS)
{
	pthread_mutex_lock(&table_lock);
	jint count = open_count;
	pthread_mutex_unlock(&table_lock);
	return count;
}

static jboolean is_open(JNI_PARAMS, jlong handle)
{
	return handle_is_open(handle_entry(handle), handle);
}

/* the maximum number of open objects */
static jint handle_limit(JNI_PARAMS)
{
	return HANDLE_ENTRIES - 1;
}

static const JNINativeMethod methods[] = {
	{ "handleEndUses", "([JI)V", end_all },
	{ "handleCount", "()I", handle_count },
	{ "handleIsOpen", "(J)Z", is_open },
	{ "handleLimit", "()I", handle_limit },
};

const struct jni_table handle_natives = { methods, sizeof(methods) / sizeof(methods[0]) };
