// SPDX-License-Identifier: BSD-3-Clause
/** Remote direct memory access, to volatile and persistent memory, through librpma and librdmacm. */
module io.rpma {
    requires static jdk.jfr;

    exports io.rpma;
    exports io.rpma.rdmacm;
}
