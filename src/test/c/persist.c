/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persist.c -- tests every instruction of this processor by which persist() can write cache lines back; prints the
 * names. On aarch64, persist() alone chooses the instruction.
 */
#include "../../../native/persist.c"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE 12288

static unsigned char expected[SIZE];

/* Fills expected, and maps memory of the same size. */
static unsigned char *prepare(void)
{
	for (size_t i = 0; i < SIZE; i++)
		expected[i] = (unsigned char)(i * 7 + i / 256);
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

#if defined(__x86_64__)

static int writes_back(const char *name, line_writer *write_line, unsigned char *memory)
{
	memcpy(memory, expected, SIZE);
	for (size_t line = 0; line < SIZE; line += CACHE_LINE)
		write_line(memory + line);
	_mm_sfence();
	puts(name);
	return memcmp(memory, expected, SIZE);
}

int main(void)
{
	unsigned eax, ebx, ecx, edx;
	unsigned char *memory = prepare();
	if (memory == MAP_FAILED || __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0)
		return 1;
	int failed = writes_back("clflush", flush, memory);
	if (ebx & bit_CLFLUSHOPT)
		failed |= writes_back("clflushopt", flush_optimized, memory);
	if (ebx & bit_CLWB)
		failed |= writes_back("clwb", write_back, memory);
	line_writer *best = ebx & bit_CLWB ? write_back : ebx & bit_CLFLUSHOPT ? flush_optimized : flush;
	return failed != 0 || best_writer() != best;
}

#else

int main(void)
{
	unsigned char *memory = prepare();
	if (memory == MAP_FAILED)
		return 1;
	memcpy(memory, expected, SIZE);
	persist(memory, SIZE);
	puts(getauxval(AT_HWCAP) & HWCAP_DCPOP ? "dc cvap" : "dc cvac");
	return memcmp(memory, expected, SIZE) != 0;
}

#endif
