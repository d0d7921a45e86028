/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persist.h -- makes the stores of the processor persistent
 */
#ifndef RPMA_JAVA_PERSIST_H
#define RPMA_JAVA_PERSIST_H

#include <stddef.h>

/* writes the bytes back from the processors' caches to persistent memory, and returns when they are written */
void persist(const void *address, size_t length);

#endif
