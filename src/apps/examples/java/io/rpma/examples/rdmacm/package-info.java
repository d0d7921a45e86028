// SPDX-License-Identifier: BSD-3-Clause
/**
 * Programs that work with the programs of rdmacm-utils, with the same bytes on the wire: {@code rdma_client}, {@code
 * rdma_server} and {@code rping}.
 */
package io.rpma.examples.rdmacm;
