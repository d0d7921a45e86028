package io.rpma;

/** What to do about a failure, where its cause is known from the function and errno. */
final class Hint {
    private Hint() {}

    /** The hint, or an empty text where there is none. */
    static String of(String operation, long code, int errno) {
        if (code == RpmaError.NOSUPP.code() && operation.equals("rpma_flush")) {
            return "the remote region must be registered with the usage of this flush type, and a persistent flush needs"
                    + " applyRemotePeerCfg() with a configuration that has direct write to pmem";
        }
        if (code != RpmaError.PROVIDER.code()) {
            return "";
        }
        switch (operation) {
            case "rpma_mr_reg":
                return registration(errno);
            case "rpma_utils_get_ibv_context":
                return device(errno);
            case "rpma_ep_listen":
                return errno == Errno.EADDRINUSE ? "another endpoint listens on this address and port" : device(errno);
            case "rpma_conn_req_new":
            case "rpma_ep_next_conn_req":
                return request(errno);
            case "rpma_conn_req_connect":
                return errno == Errno.EINVAL
                        ? "private data may be too long: InfiniBand and RoCE take 56 bytes with a request to connect and"
                                + " 196 bytes with its acceptance"
                        : "";
            default:
                return "";
        }
    }

    private static String registration(int errno) {
        switch (errno) {
            case Errno.ENOMEM:
                return "the limit of locked memory may be too low: see ulimit -l, LimitMEMLOCK of systemd or"
                        + " /etc/security/limits.d";
            case Errno.EFAULT:
                return "the memory can't be pinned for writing: kernels from 6.5 on refuse remote writes into a mapping"
                        + " of an ordinary file (use device DAX, tmpfs, hugetlbfs or anonymous memory), and a read-only"
                        + " mapping can only be the source of reads and sends";
            case Errno.EOPNOTSUPP:
                return "a file of a DAX file system needs a device with on-demand paging: see"
                        + " RpmaDevice.isOdpCapable(), or use device DAX";
            case Errno.EINVAL:
                return "the device may refuse this usage for this kind of memory, as soft-RoCE refuses a persistent"
                        + " flush to memory that is not persistent";
            default:
                return "";
        }
    }

    private static String device(int errno) {
        return errno == Errno.ENODEV || errno == Errno.EADDRNOTAVAIL
                ? "no RDMA device has this address: see 'rdma link' and 'ip address'; soft-RoCE needs the address of its"
                        + " own interface, never 127.0.0.1"
                : "";
    }

    private static String request(int errno) {
        switch (errno) {
            case Errno.EINVAL:
            case Errno.ENOMEM:
                return "a queue size of the configuration may be beyond what the device has: see 'ibv_devinfo -v'";
            default:
                return device(errno);
        }
    }
}
