package io.rpma.internal;

/** The remedy for a failure, if the function and librpma's messages identify the cause. */
final class Hint {
    private static final String LOCKED_MEMORY =
            "the limit of locked memory may be too low: see ulimit -l, LimitMEMLOCK of systemd or /etc/security/limits.d";

    // also for ENFILE, because its text starts with the text of EMFILE
    private static final String DESCRIPTORS =
            "too many descriptors are open: see ulimit -n, and /proc/sys/fs/file-max for all processes together";

    private static final String EXTENDED_POSTING =
            "librpma that is built with rdma-core 45 or later needs a device whose provider has extended posting"
                    + " (IBV_QP_INIT_ATTR_SEND_OPS_FLAGS), which mlx4, irdma, siw and others lack";

    /** The maximum number of handles that one call creates: 3 for a connection with two completion queues. */
    private static final int LARGEST_OBJECT = 3;

    private Hint() {}

    /**
     * Returns the hint, or an empty text if there is none.
     *
     * @param messages librpma's messages, which identify the cause; librpma's cleanup often overwrites errno
     */
    static String of(String operation, int error, String messages) {
        if (error == Result.NOSUPP && operation.equals("rpma_flush")) {
            return "the remote region must be registered with the usage of this flush type, and a persistent flush needs"
                    + " applyRemotePeerCfg() with a configuration that has direct write to pmem";
        }
        if (error == Result.NOMEM) {
            return objects();
        }
        if (error != Result.PROVIDER) {
            return "";
        }
        if (says(messages, Errno.EMFILE)) {
            return DESCRIPTORS;
        }
        switch (operation) {
            case "rpma_mr_reg":
                return registration(messages);
            case "rpma_utils_get_ibv_context":
                return device(messages);
            case "rpma_ep_listen":
                return says(messages, Errno.EADDRINUSE)
                        ? "another endpoint listens on this address and port"
                        : device(messages);
            case "rpma_srq_new":
                return queues(messages);
            case "rpma_conn_req_new":
                return request(messages);
            case "rpma_ep_next_conn_req":
                return lacksExtendedPosting(messages)
                        ? EXTENDED_POSTING
                        : "the client may have given up, or a queue size of the configuration may exceed the limit of the"
                                + " device (see 'ibv_devinfo -v'); the endpoint remains usable";
            case "rpma_conn_req_connect":
                return connection(messages);
            case "rdma_reg_msgs", "rdma_reg_read", "rdma_reg_write", "ibv_reg_mr":
                return registration(messages);
            case "rdma_getaddrinfo":
                return says(messages, Errno.EADDRNOTAVAIL) ? "the name is unknown" : device(messages);
            case "rdma_create_id", "rdma_create_ep", "rdma_bind_addr", "rdma_listen", "rdma_resolve_addr":
                return says(messages, Errno.EADDRINUSE) ? "another id has this address and port" : device(messages);
            case "rdma_create_qp", "rdma_create_srq":
                return says(messages, Errno.EINVAL) || says(messages, Errno.ENOMEM)
                        ? "a number of the attributes may be beyond what the device has: see 'ibv_devinfo -v'"
                        : "";
            case "rdma_connect", "rdma_accept", "rdma_reject":
                return says(messages, Errno.EINVAL)
                        ? "the id may be in another state, or the private data too long: see RdmaConnParam.privateData()"
                        : "";
            case "epoll_ctl":
                return says(messages, Errno.ENOSPC) ? "see /proc/sys/fs/epoll/max_user_watches" : "";
            case "munmap":
                return says(messages, Errno.ENOMEM) ? "see /proc/sys/vm/max_map_count" : "";
            default:
                return "";
        }
    }

    private static boolean says(String messages, int errno) {
        return messages.contains(Errno.message(errno));
    }

    private static String objects() {
        int open = Natives.handleCount();
        int limit = Natives.handleLimit();
        return open > limit - LARGEST_OBJECT
                ? open + " objects of the library are open, of " + limit + " at most: close what is not used any more;"
                        + " those that were dropped without close() are in the log"
                : "";
    }

    private static String registration(String messages) {
        if (says(messages, Errno.ENOMEM)) {
            return LOCKED_MEMORY;
        }
        if (says(messages, Errno.EFAULT)) {
            return "the memory can't be pinned for writing: kernels from 6.5 on refuse remote writes into a mapping of an"
                    + " ordinary file (use device DAX, tmpfs, hugetlbfs or anonymous memory); a read-only mapping can only"
                    + " be the source of reads and sends, and not even that before 6.2";
        }
        if (says(messages, Errno.EOPNOTSUPP)) {
            return "a file of a DAX file system needs a device with on-demand paging: see RpmaDevice.isOdpCapable(), or"
                    + " use device DAX";
        }
        if (says(messages, Errno.EINVAL)) {
            return "the device may refuse this usage for this kind of memory, as soft-RoCE refuses a persistent flush to"
                    + " memory that is not persistent";
        }
        return "";
    }

    /** librpma registers a page for the flushes of each connection. The registration can exceed the limit of locked memory. */
    private static String connection(String messages) {
        if (says(messages, Errno.ENOMEM)) {
            return LOCKED_MEMORY;
        }
        return says(messages, Errno.EINVAL)
                ? "private data may be too long: InfiniBand and RoCE take 56 bytes with a request to connect and"
                        + " 196 bytes with its acceptance"
                : "";
    }

    private static String device(String messages) {
        return says(messages, Errno.ENODEV) || says(messages, Errno.EADDRNOTAVAIL)
                ? "no RDMA device has this address: see 'rdma link' and 'ip address'; soft-RoCE needs the address of its"
                        + " own interface, never 127.0.0.1"
                : "";
    }

    private static String request(String messages) {
        if (messages.contains("timeout_ms=0)")) {
            return "no address is resolved in a timeout of 0: see RpmaConnCfg.setTimeout()";
        }
        if (lacksExtendedPosting(messages)) {
            return EXTENDED_POSTING;
        }
        String queues = queues(messages);
        return queues.isEmpty() ? device(messages) : queues;
    }

    private static boolean lacksExtendedPosting(String messages) {
        return says(messages, Errno.EOPNOTSUPP) || says(messages, Errno.ENOSYS);
    }

    private static String queues(String messages) {
        return says(messages, Errno.EINVAL) || says(messages, Errno.ENOMEM)
                ? "a queue size of the configuration may be beyond what the device has: see 'ibv_devinfo -v'"
                : "";
    }
}
