module consumer {
    requires io.rpma;
}
