/*
 * persist.h -- makes what the processor has stored persistent
 */
#ifndef RPMA_JAVA_PERSIST_H
#define RPMA_JAVA_PERSIST_H

#include <stddef.h>

/* writes the bytes of persistent memory back from this machine's caches, and waits until that is done */
void persist(const void *address, size_t length);

#endif
