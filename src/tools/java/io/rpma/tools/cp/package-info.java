// SPDX-License-Identifier: BSD-3-Clause
/** The command {@code cp}: copies a file to another host. */
package io.rpma.tools.cp;
