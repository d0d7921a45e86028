/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * versions.h -- how librpma was built
 */
#ifndef RPMA_JAVA_VERSIONS_H
#define RPMA_JAVA_VERSIONS_H

#include <stdbool.h>

/* whether librpma was built with native flush and native atomic write; a device may lack both */
bool versions_native_flush(void);
bool versions_native_atomic_write(void);

/* whether the queue pairs of the loaded libibverbs have all native operations that librpma uses */
bool versions_native_operations_work(void);

#endif
