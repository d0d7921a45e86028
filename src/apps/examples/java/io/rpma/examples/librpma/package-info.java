// SPDX-License-Identifier: BSD-3-Clause
/**
 * librpma's numbered examples in Java, with the same arguments, roles and bytes on the wire. So each side also works
 * with librpma's own program in C on the other side.
 */
package io.rpma.examples.librpma;
