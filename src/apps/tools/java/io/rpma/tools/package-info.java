// SPDX-License-Identifier: BSD-3-Clause
/**
 * The tools: the command line of {@code java -jar rpma-java-VERSION-tools.jar}. Each command has a package of its own.
 */
package io.rpma.tools;
