// SPDX-License-Identifier: BSD-3-Clause
/** The command {@code ping}: measures round trips of messages. */
package io.rpma.tools.ping;
