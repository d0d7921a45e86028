/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.c -- the client of the benchmarks in C; io.rpma.bench.device.Client is the client in Java
 *
 * usage: client ADDRESS PORT
 *
 * Reads commands from the standard input, one per line. Answers each command with a line of numbers: durations in
 * nanoseconds, and the growth of the resident memory in kilobytes. Ends when the input ends, or with status 1 on a
 * failure.
 *
 *   load OPERATION BYTES DEPTH poll|wait|block COUNT [FILE]
 *                           runs a load; answers its duration; writes the durations of the operations to FILE;
 * librdmacm's operations don't support block, and have at most 64 bytes; tcp supports only block; rdma-write-chained
 * has a depth of at least 2, and no FILE connect COUNT           opens connections until COUNT are open; answers the
 * duration and the growth spread COUNT OVER FILE  writes 8 bytes COUNT times, on the first OVER of these connections in
 * turn; answers the duration; writes the durations of the operations to FILE loop COUNT OVER FILE    writes 8 bytes
 * COUNT times, on the first OVER of these connections, which one thread serves; each connection posts its next write
 * when the last one has completed; answers the duration of the writes, and of the registration of the connections;
 * writes the durations of the operations to FILE disconnect              closes these connections; answers the duration
 *   rdma-connect COUNT      opens librdmacm's connections until COUNT are open; answers the duration
 *   rdma-loop COUNT OVER FILE
 *                           does the same as loop, on the first OVER of librdmacm's connections
 *   register BYTES THREADS  registers and deregisters memory in parts of the same size, each in a thread of its own;
 * answers both durations regions COUNT           registers COUNT pages one by one; answers the duration and the growth
 */
#include "client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tcp.h"

#define LINE 4096
#define PAGE 4096UL
#define MOST_CONNECTIONS 4096
#define MOST_THREADS 64

/* the state of the commands */
struct session {
	struct client client;
	struct connection connection; /* of the command load */
	struct connection many[MOST_CONNECTIONS];
	size_t count;
	struct rdma_connection many_rdma[MOST_CONNECTIONS];
	size_t rdma_count;
};

static long resident_kb(void)
{
	long total = 0;
	long resident = 0;
	FILE *statm = fopen("/proc/self/statm", "r");
	if (statm == NULL || fscanf(statm, "%ld %ld", &total, &resident) != 2)
		fail("/proc/self/statm");
	fclose(statm);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static uint64_t *new_samples(uint64_t count)
{
	/* write to each page now, so that the measurement has no page faults */
	uint64_t *samples = malloc(count * sizeof(*samples));
	if (samples == NULL)
		fail("malloc()");
	memset(samples, 0xff, count * sizeof(*samples));
	return samples;
}

static void write_samples(const char *path, uint64_t *samples, uint64_t count)
{
	FILE *file = fopen(path, "w");
	if (file == NULL || fwrite(samples, sizeof(*samples), count, file) != count || fclose(file) != 0)
		fail(path);
	free(samples);
}

static void misused(const char *line)
{
	fprintf(stderr, "no such command: %s", line);
	exit(EXIT_FAILURE);
}

static void command_load(struct session *session, const char *line)
{
	char operation[LINE];
	char mode[LINE];
	char path[LINE] = "";
	struct load load;
	if (sscanf(line, "load %s %zu %u %s %lu %s", operation, &load.size, &load.depth, mode, &load.count, path) < 5)
		misused(line);
	load.operation = operation_of(operation);
	load.completions = completions_of(mode);
	if (load.operation == OPERATIONS || load.completions == COMPLETIONS)
		misused(line);
	if (is_rdmacm(load.operation) && (load.completions == BLOCK || load.size > INLINE_SIZE))
		misused(line);
	if (load.operation == TCP && (load.completions != BLOCK || load.size < 1 || load.size > MEMORY_SIZE))
		misused(line);
	if (load.operation == RDMA_WRITE_CHAINED && (load.depth < 2 || path[0] != '\0'))
		misused(line);
	uint64_t *samples = path[0] == '\0' ? NULL : new_samples(load.count);
	if (load.operation == TCP)
		session->client.tcp = open_tcp(session->client.address, session->client.port + 4, load.size);
	uint64_t time = run_load(&session->client, &session->connection, &load, samples);
	if (load.operation == TCP)
		close(session->client.tcp);
	if (samples != NULL)
		write_samples(path, samples, load.count);
	printf("%lu\n", time);
}

static void command_connect(struct session *session, const char *line)
{
	size_t count;
	if (sscanf(line, "connect %zu", &count) != 1 || count > MOST_CONNECTIONS)
		misused(line);
	long before = resident_kb();
	uint64_t start = now_ns();
	for (; session->count < count; session->count++)
		session->many[session->count] = open_connection(&session->client, session->client.port + 1,
								SMALL_QUEUE_SIZE);
	uint64_t time = now_ns() - start;
	printf("%lu %ld\n", time, resident_kb() - before);
}

static void command_spread(struct session *session, const char *line)
{
	uint64_t count;
	size_t over;
	char path[LINE];
	struct load load = { .operation = WRITE, .size = 8, .depth = 1, .count = 1 };
	if (sscanf(line, "spread %lu %zu %s", &count, &over, path) != 3 || over < 1 || over > session->count)
		misused(line);
	uint64_t *samples = new_samples(count);
	uint64_t start = now_ns();
	for (uint64_t i = 0; i < count; i++)
		run_load(&session->client, &session->many[i % over], &load, &samples[i]);
	uint64_t time = now_ns() - start;
	write_samples(path, samples, count);
	printf("%lu\n", time);
}

static void command_loop(struct session *session, const char *line)
{
	uint64_t count;
	size_t over;
	char path[LINE];
	if (sscanf(line, "loop %lu %zu %s", &count, &over, path) != 3 || over < 1 || over > session->count ||
	    over > count)
		misused(line);
	uint64_t *samples = new_samples(count);
	struct loop_times times = run_loop(&session->client, session->many, over, count, samples);
	write_samples(path, samples, count);
	printf("%lu %lu\n", times.run, times.registration);
}

static void command_disconnect(struct session *session)
{
	uint64_t start = now_ns();
	while (session->count > 0)
		close_connection(&session->many[--session->count]);
	printf("%lu\n", now_ns() - start);
}

static void command_rdma_connect(struct session *session, const char *line)
{
	const struct client *client = &session->client;
	size_t count;
	if (sscanf(line, "rdma-connect %zu", &count) != 1 || count > MOST_CONNECTIONS)
		misused(line);
	uint64_t start = now_ns();
	for (; session->rdma_count < count; session->rdma_count++)
		session->many_rdma[session->rdma_count] = open_rdma_connection(client->address, client->port + 3,
									       SMALL_QUEUE_SIZE, client->rdma.memory);
	printf("%lu\n", now_ns() - start);
}

static void command_rdma_loop(struct session *session, const char *line)
{
	uint64_t count;
	size_t over;
	char path[LINE];
	if (sscanf(line, "rdma-loop %lu %zu %s", &count, &over, path) != 3 || over < 1 || over > session->rdma_count ||
	    over > count)
		misused(line);
	uint64_t *samples = new_samples(count);
	struct loop_times times = run_rdma_loop(session->many_rdma, over, count, samples);
	write_samples(path, samples, count);
	printf("%lu %lu\n", times.run, times.registration);
}

/* a part of the memory of the command register */
struct part {
	struct rpma_peer *peer;
	char *memory;
	size_t size;
	struct rpma_mr_local *region;
	pthread_t thread;
};

static void *register_part(void *argument)
{
	struct part *part = argument;
	check("rpma_mr_reg()",
	      rpma_mr_reg(part->peer, part->memory, part->size, RPMA_MR_USAGE_WRITE_DST, &part->region));
	return NULL;
}

static void *deregister_part(void *argument)
{
	struct part *part = argument;
	check("rpma_mr_dereg()", rpma_mr_dereg(&part->region));
	return NULL;
}

/* runs a task for each part, the first part's in this thread; returns the duration */
static uint64_t run_at_once(void *(*task)(void *), struct part *parts, size_t count)
{
	uint64_t start = now_ns();
	for (size_t i = 1; i < count; i++) {
		if (pthread_create(&parts[i].thread, NULL, task, &parts[i]) != 0)
			fail("pthread_create()");
	}
	task(&parts[0]);
	for (size_t i = 1; i < count; i++) {
		if (pthread_join(parts[i].thread, NULL) != 0)
			fail("pthread_join()");
	}
	return now_ns() - start;
}

static void command_register(struct session *session, const char *line)
{
	size_t size;
	size_t threads;
	struct part parts[MOST_THREADS];
	if (sscanf(line, "register %zu %zu", &size, &threads) != 2 || threads < 1 || threads > MOST_THREADS)
		misused(line);
	char *memory = allocate(size);
	for (size_t i = 0; i < threads; i++)
		parts[i] = (struct part){ .peer = session->client.peer,
					  .memory = memory + i * (size / threads),
					  .size = size / threads };
	uint64_t registration = run_at_once(register_part, parts, threads);
	uint64_t deregistration = run_at_once(deregister_part, parts, threads);
	printf("%lu %lu\n", registration, deregistration);
	munmap(memory, size);
}

static void command_regions(struct session *session, const char *line)
{
	size_t count;
	if (sscanf(line, "regions %zu", &count) != 1 || count == 0)
		misused(line);
	char *memory = allocate(count * PAGE);
	memset(memory, 1, count * PAGE); /* excludes the page faults from the measurement */
	struct rpma_mr_local **regions = calloc(count, sizeof(*regions));
	if (regions == NULL)
		fail("calloc()");
	long before = resident_kb();
	uint64_t start = now_ns();
	for (size_t i = 0; i < count; i++)
		check("rpma_mr_reg()",
		      rpma_mr_reg(session->client.peer, memory + i * PAGE, PAGE, RPMA_MR_USAGE_WRITE_DST, &regions[i]));
	uint64_t time = now_ns() - start;
	printf("%lu %ld\n", time, resident_kb() - before);
	for (size_t i = 0; i < count; i++)
		check("rpma_mr_dereg()", rpma_mr_dereg(&regions[i]));
	free(regions);
	munmap(memory, count * PAGE);
}

static bool is_command(const char *line, const char *name)
{
	size_t length = strlen(name);
	return strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == '\n');
}

static void run_command(struct session *session, const char *line)
{
	if (is_command(line, "load"))
		command_load(session, line);
	else if (is_command(line, "connect"))
		command_connect(session, line);
	else if (is_command(line, "spread"))
		command_spread(session, line);
	else if (is_command(line, "loop"))
		command_loop(session, line);
	else if (is_command(line, "disconnect"))
		command_disconnect(session);
	else if (is_command(line, "rdma-connect"))
		command_rdma_connect(session, line);
	else if (is_command(line, "rdma-loop"))
		command_rdma_loop(session, line);
	else if (is_command(line, "register"))
		command_register(session, line);
	else if (is_command(line, "regions"))
		command_regions(session, line);
	else
		misused(line);
}

int main(int argc, char **argv)
{
	static struct session session;
	char line[LINE];
	if (argc != 3) {
		fputs("usage: client ADDRESS PORT\n", stderr);
		return EXIT_FAILURE;
	}
	show_errors();
	setvbuf(stdout, NULL, _IOLBF, 0);
	session.client = open_client(argv[1], atoi(argv[2]));
	session.connection = open_connection(&session.client, session.client.port, QUEUE_SIZE);
	session.client.rdma = open_rdma_connection(argv[1], session.client.port + 2, QUEUE_SIZE, NULL);
	puts("ok");
	while (fgets(line, sizeof(line), stdin) != NULL)
		run_command(&session, line);
	return EXIT_SUCCESS;
}
