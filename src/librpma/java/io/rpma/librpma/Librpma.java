// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.librpma;

/**
 * Marks the place of librpma: the loader of {@code io.rpma} finds this class by its name, and loads the library beside
 * it.
 */
final class Librpma {
    private Librpma() {}
}
