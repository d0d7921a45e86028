// SPDX-License-Identifier: BSD-3-Clause
/** The command {@code perf}: measures operations between two hosts. */
package io.rpma.tools.perf;
