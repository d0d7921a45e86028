// SPDX-License-Identifier: BSD-3-Clause
/** The command {@code doctor}: checks this machine. */
package io.rpma.tools.doctor;
