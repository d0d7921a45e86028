// SPDX-License-Identifier: BSD-3-Clause
/**
 * The engine of {@code RpmaEventLoop}. {@link io.rpma.internal.loop.EventLoop} has the turns and the tasks. For each
 * object that it serves, a {@link io.rpma.internal.loop.Served} takes items from a {@link io.rpma.internal.loop.Source}
 * of a facade, and calls the handler. {@link io.rpma.internal.loop.PeerCheck} checks whether the other side of a
 * connection answers.
 *
 * <p>The package uses no class of the facades.
 */
package io.rpma.internal.loop;
