// SPDX-License-Identifier: BSD-3-Clause
/** The tools: one class for each command of {@code java -jar rpma-java-VERSION-tools.jar}, and the classes that the commands share. */
package io.rpma.tools;
