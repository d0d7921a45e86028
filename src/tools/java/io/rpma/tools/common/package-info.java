// SPDX-License-Identifier: BSD-3-Clause
/** The classes that the commands share. */
package io.rpma.tools.common;
