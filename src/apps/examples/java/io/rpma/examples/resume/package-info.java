// SPDX-License-Identifier: BSD-3-Clause
/**
 * A client that survives the death of its server.
 *
 * <p>{@link io.rpma.examples.resume.Resume} is the command line program. Read it in this order: {@code CopyLayout} (the
 * layout of the memory), {@code Copier} (copies a file or the rest of it), {@code Client} (connects again after each
 * loss), {@code Server}.
 */
package io.rpma.examples.resume;
