/**
 * What programs see of the library on a device, in Java and in C.
 *
 * <p>One target in C ({@code native/bench/target.c}) serves clients that do the same in both languages:
 * {@link io.rpma.bench.device.Client} and {@code native/bench/client.c}, of which a second process is the control. Of waits
 * {@link io.rpma.bench.device.Bare} is another one: C's code called from Java, with nothing of the library. They are long-lived
 * and take commands ({@link io.rpma.bench.device.ClientProcess}), so that they can be measured in turn.
 */
package io.rpma.bench.device;
