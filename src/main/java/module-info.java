/** Remote direct memory access, to volatile and persistent memory, through librpma. */
module io.rpma {
    exports io.rpma;
}
