// SPDX-License-Identifier: BSD-3-Clause
/**
 * The measurements of programs on a device, in Java and in C.
 *
 * <p>One target in C ({@code src/apps/bench/c/target.c}) serves clients that do the same in both languages:
 * {@link io.rpma.bench.device.Client} and {@code src/apps/bench/c/client.c}. A second process of the client in C is the
 * control. For waits, {@link io.rpma.bench.device.Bare} is another client: the code in C, called from Java without the
 * library. The clients are long-lived and take commands ({@link io.rpma.bench.device.ClientProcess}), so that they can
 * be measured in turn.
 */
package io.rpma.bench.device;
