// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

/**
 * A record that a writer appends.
 *
 * @param writer the number of the writer, from 1
 * @param number the number of the record among the writer's records, from 1
 * @param bytes the content of the record
 */
record Payload(int writer, long number, byte[] bytes) {}
