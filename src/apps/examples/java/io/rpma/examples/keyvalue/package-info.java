// SPDX-License-Identifier: BSD-3-Clause
/**
 * A store of keys and values on three hosts, with Apache Ratis over RDMA.
 *
 * <p>Any of the servers can die without the loss of an acknowledged value, and the others go on.
 */
package io.rpma.examples.keyvalue;
