/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persist.c -- makes the stores of the processor persistent, with its best write-back instruction
 */
#include "persist.h"

#include <stdint.h>

#if defined(__x86_64__)

#include <cpuid.h>
#include <emmintrin.h>
#include <immintrin.h>
#include <stdatomic.h>

#define CACHE_LINE 64

typedef void line_writer(const void *line);

__attribute__((target("clwb"))) static void write_back(const void *line)
{
	_mm_clwb((void *)(uintptr_t)line);
}

__attribute__((target("clflushopt"))) static void flush_optimized(const void *line)
{
	_mm_clflushopt((void *)(uintptr_t)line);
}

static void flush(const void *line)
{
	_mm_clflush(line);
}

static line_writer *best_writer(void)
{
	unsigned eax, ebx, ecx, edx;
	if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0)
		return flush;
	if (ebx & bit_CLWB)
		return write_back;
	return ebx & bit_CLFLUSHOPT ? flush_optimized : flush;
}

void persist(const void *address, size_t length)
{
	static line_writer *_Atomic writer;
	line_writer *write_line = atomic_load_explicit(&writer, memory_order_relaxed);
	if (write_line == NULL) {
		write_line = best_writer();
		atomic_store_explicit(&writer, write_line, memory_order_relaxed);
	}
	uintptr_t end = (uintptr_t)address + length;
	for (uintptr_t line = (uintptr_t)address & ~(uintptr_t)(CACHE_LINE - 1); line < end; line += CACHE_LINE)
		write_line((const void *)line);
	_mm_sfence();
}

#elif defined(__aarch64__)

#include <sys/auxv.h>

#ifndef HWCAP_DCPOP
#define HWCAP_DCPOP (1 << 16)
#endif

static uintptr_t cache_line(void)
{
	uint64_t type;
	__asm__("mrs %0, ctr_el0" : "=r"(type));
	return (uintptr_t)4 << (type >> 16 & 15);
}

void persist(const void *address, size_t length)
{
	uintptr_t line_size = cache_line();
	uintptr_t end = (uintptr_t)address + length;
	int to_persistence = (getauxval(AT_HWCAP) & HWCAP_DCPOP) != 0;
	for (uintptr_t line = (uintptr_t)address & ~(line_size - 1); line < end; line += line_size) {
		if (to_persistence)
			__asm__ volatile("sys #3, c7, c12, #1, %0" : : "r"(line) : "memory"); /* dc cvap */
		else
			__asm__ volatile("dc cvac, %0" : : "r"(line) : "memory");
	}
	__asm__ volatile("dsb sy" : : : "memory");
}

#else
#error "persist() is not written for this processor"
#endif
