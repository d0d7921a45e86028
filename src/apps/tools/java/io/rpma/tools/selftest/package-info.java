// SPDX-License-Identifier: BSD-3-Clause
/** The command {@code selftest}: tries each operation on a device and compares the bytes. */
package io.rpma.tools.selftest;
