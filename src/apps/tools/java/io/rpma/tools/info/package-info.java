// SPDX-License-Identifier: BSD-3-Clause
/** The command {@code info}: shows the devices and the versions. */
package io.rpma.tools.info;
