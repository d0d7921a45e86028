/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault.c -- at the request of a test, makes calls fail, or makes them wait until the test opens the gate
 */
#include "standin.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_FAULTS = 32, LONGEST_NAME = 48 };

struct rule {
	char call[LONGEST_NAME];
	/* the number of calls that the rule still affects; 0 if this entry is free */
	int times;
	int error;
	bool gate;
};

static struct rule rules[MOST_FAULTS];
static pthread_mutex_t rules_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* The number of rules: without rules, a call does not take the lock. */
static int active;
static int waiting;
static unsigned gate_opened;

static struct rule *find(const char *call)
{
	for (int i = 0; i < MOST_FAULTS; i++)
		if (rules[i].times > 0 && strcmp(rules[i].call, call) == 0)
			return &rules[i];
	return NULL;
}

int fault(const char *call)
{
	if (__atomic_load_n(&active, __ATOMIC_ACQUIRE) == 0)
		return 0;
	pthread_mutex_lock(&rules_lock);
	struct rule *rule = find(call);
	if (rule == NULL) {
		pthread_mutex_unlock(&rules_lock);
		return 0;
	}
	struct rule hit = *rule;
	if (--rule->times == 0)
		__atomic_sub_fetch(&active, 1, __ATOMIC_RELEASE);
	if (hit.gate) {
		unsigned before = gate_opened;
		waiting++;
		pthread_cond_broadcast(&changed);
		while (gate_opened == before)
			pthread_cond_wait(&changed, &rules_lock);
		waiting--;
	}
	pthread_mutex_unlock(&rules_lock);
	return hit.error;
}

void standin_fault(const char *call, int times, int error, bool gate)
{
	pthread_mutex_lock(&rules_lock);
	int i = 0;
	while (i < MOST_FAULTS && rules[i].times > 0)
		i++;
	if (i == MOST_FAULTS)
		die("more than %d faults", MOST_FAULTS);
	struct rule *rule = &rules[i];
	if (snprintf(rule->call, sizeof(rule->call), "%s", call) >= LONGEST_NAME)
		die("a call's name is too long: %s", call);
	rule->error = error;
	rule->gate = gate;
	rule->times = times;
	__atomic_add_fetch(&active, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&rules_lock);
}

void standin_clear_faults(void)
{
	pthread_mutex_lock(&rules_lock);
	for (int i = 0; i < MOST_FAULTS; i++)
		rules[i].times = 0;
	__atomic_store_n(&active, 0, __ATOMIC_RELEASE);
	gate_opened++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&rules_lock);
}

/* Limit.WAIT_S of the tests in Java. */
static const int gate_wait_s = 1500;

bool standin_await_gate(int calls)
{
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += gate_wait_s;
	pthread_mutex_lock(&rules_lock);
	int result = 0;
	while (waiting < calls && result == 0)
		result = pthread_cond_timedwait(&changed, &rules_lock, &deadline);
	bool there = waiting >= calls;
	pthread_mutex_unlock(&rules_lock);
	return there;
}
