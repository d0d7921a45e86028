// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Arguments that all threads share. */
@State(Scope.Benchmark)
public class SharedTarget extends NoopTarget {}
