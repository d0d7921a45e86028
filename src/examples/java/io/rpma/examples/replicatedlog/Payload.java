package io.rpma.examples.replicatedlog;

/**
 * What a writer wants to append.
 *
 * @param writer the writer, from 1 on
 * @param number which of its records this is, from 1 on
 * @param bytes the content of the record
 */
record Payload(int writer, long number, byte[] bytes) {}
