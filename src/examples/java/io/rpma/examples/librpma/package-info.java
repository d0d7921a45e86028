/**
 * librpma's numbered examples: the same arguments, the same roles and the same bytes on the wire, so that either side can
 * be one of librpma's own programs in C.
 */
package io.rpma.examples.librpma;
