// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The remedy for a failure, if the function and librpma's messages identify the cause. */
final class Hint {
    private static final String EXTENDED_QUEUE_PAIRS =
            "the provider of the device may lack extended queue pairs, which librpma asks for if it was built with native"
                    + " operations and was in the process before rpma-java, because of LD_PRELOAD or another library";

    private static final String EARLY =
            "the connection may not be established yet: post after nextEvent() has returned ESTABLISHED";

    private static final String GONE = "the client may have given up";

    private static final String WRONG_STATE =
            "the id may be in another state, or the private data too long: see RdmaConnParam.privateData()";

    private static final String CONNECTION_MANAGER = "/dev/infiniband/rdma_cm";

    private static final String GET_CONTEXT = "rpma_utils_get_ibv_context";

    // the limits of the process in limit.c; an enum would be another class, which can't be loaded without descriptors
    private static final int AS = 0;
    private static final int FSIZE = 1;
    private static final int MEMLOCK = 2;
    private static final int NOFILE = 3;
    private static final int NPROC = 4;

    /** The maximum number of handles that one call creates: 3 for a connection with two completion queues. */
    private static final int LARGEST_OBJECT = 3;

    private static final long MOST_OF_SOFT_ROCE = 1 << 30;

    private Hint() {}

    /**
     * Returns the hint, or an empty text if there is none.
     *
     * @param errno the error of the first message; librpma's cleanup often overwrites that of the system
     * @param messages librpma's messages, which identify the function that failed
     * @param objects the objects of the call, which identify the device
     */
    static String of(String operation, int error, int errno, String messages, Resource... objects) {
        if (error == Result.NOSUPP && operation.equals("rpma_flush")) {
            return "the remote region must be registered with the usage of this flush type, and a persistent flush needs"
                    + " applyRemotePeerCfg() with a configuration that has direct write to pmem";
        }
        if (error == Result.NOMEM) {
            return noMemory(operation, objects);
        }
        if (error == Result.SHARED_CHANNEL) {
            return "the queue shares its completion channel: call await() or awaitWhileConnected() of the connection";
        }
        if (error == Result.NOT_SHARED_CHNL) {
            return "each queue has a completion channel of its own: call await(), awaitWhileConnected() or getFd() of"
                    + " getCq() or getRcq(), or make the connection with RpmaConnCfg.setComplChannel(true)";
        }
        if (error != Result.PROVIDER) {
            return "";
        }
        if (errno == Errno.EMFILE || errno == Errno.ENFILE) {
            return descriptors();
        }
        // a wait reports in this way that the connection has ended
        if (errno == Errno.ENOTCONN && !operation.matches(".*(_wait|_comp|_connect)")) {
            return EARLY;
        }
        if (errno == Errno.EAGAIN && creates(operation, messages)) {
            return cgroup();
        }
        if (takesDevice(operation, messages) && errno == Errno.ENXIO) {
            return "the node GUID of the device is 0, so that librdmacm does not know it: give the virtual function a"
                    + " GUID, as with 'ip link set PARENT vf NUMBER node_guid GUID', and load its driver again";
        }
        if (errno == Errno.EXDEV) {
            return otherDevice(operation);
        }
        String hint = ofReplaced(operation, errno, messages);
        if (hint.isEmpty()) {
            hint = ofCall(operation, errno, messages, objects);
        }
        // the libraries allocate memory in each call; other functions are the kernel's
        boolean allocates = operation.matches("(ibv|rdma|rpma)_.*");
        return hint.isEmpty() && errno == Errno.ENOMEM && allocates ? memory() : hint;
    }

    private static boolean takesDevice(String operation, String messages) {
        return Stream.of("rdma_resolve_addr", "rdma_get_cm_event", "rdma_get_request", "rdma_create_ep", GET_CONTEXT)
                .anyMatch((operation + " " + messages)::contains);
    }

    /** Returns the hint for an error that librdmacm may have put in the place of another; else an empty text. */
    private static String ofReplaced(String operation, int errno, String messages) {
        boolean createsEp = operation.equals("rdma_create_ep");
        boolean opensChannel = createsEp || messages.contains("rdma_create_id(");
        boolean opensFile =
                opensChannel || operation.equals("rdma_create_id") || messages.contains("rdma_create_event_channel(");
        if (opensFile
                && List.of(Errno.ENOMEM, Errno.ENOENT, Errno.EACCES, Errno.EPERM)
                        .contains(errno)) {
            String reason = connectionManager();
            if (!reason.isEmpty()) {
                return reason;
            }
        }
        if (opensChannel && errno == Errno.ENOMEM) {
            // also in the place of EMFILE
            return memory() + "; librdmacm reports a lack of memory also if " + descriptors();
        }
        boolean resolves =
                createsEp || operation.equals("rdma_get_cm_event") || messages.contains("rdma_resolve_addr(");
        return resolves && errno == Errno.EPERM
                ? "librdmacm reports this if it can't open the device or make a protection domain: " + cgroup()
                        + "; or " + descriptors()
                : "";
    }

    /**
     * Returns the hint for a call of librpma, of librdmacm, of libibverbs or of the kernel; an empty text if there is
     * none.
     */
    private static String ofCall(String operation, int errno, String messages, Resource... objects) {
        switch (operation) {
            case "rpma_peer_new":
                return errno == Errno.EINVAL && messages.contains("ibv_alloc_pd(")
                        ? deviceLimits(objects, "max_pd")
                        : "";
            case "ibv_create_ah", "ibv_create_ah_from_wc":
                return errno == Errno.ENOMEM ? deviceLimits(objects, "max_ah") + "; or " + memory() : "";
            case "rpma_mr_reg":
                return registration(errno, objects);
            case "rdma_get_devices":
                return devices(errno, messages);
            case GET_CONTEXT:
                return device(errno);
            case "rpma_ep_listen":
                return address(errno, "another endpoint listens on");
            case "rpma_srq_new":
                return queues(operation, errno, messages, objects);
            case "rpma_conn_req_new":
                return request(operation, errno, messages, objects);
            case "rpma_ep_next_conn_req":
                return nextRequest(operation, errno, messages, objects);
            case "rpma_conn_req_connect":
                return connection(errno, messages, objects);
            case "rdma_reg_msgs", "rdma_reg_read", "rdma_reg_write", "ibv_reg_mr":
                return registration(errno, objects);
            case "rdma_getaddrinfo":
                return errno == Errno.EADDRNOTAVAIL ? "the name is unknown" : device(errno);
            case "rdma_create_id", "rdma_create_ep", "rdma_bind_addr", "rdma_listen", "rdma_resolve_addr":
                return address(errno, "another id has");
            case "rdma_get_request":
                return errno == Errno.EAGAIN
                        ? "librdmacm has rejected a request, because " + memory() + ", or because " + descriptors()
                                + ", or because " + cgroup()
                        : "";
            case "rdma_create_qp", "rdma_create_srq":
                return queues(operation, errno, messages, objects);
            case "rdma_connect":
                return errno == Errno.EINVAL ? WRONG_STATE : "";
            case "rdma_accept", "rdma_reject":
                return errno == Errno.ECONNRESET ? GONE : errno == Errno.EINVAL ? GONE + ", or " + WRONG_STATE : "";
            case "rpma_read", "rpma_write", "rpma_atomic_write", "rpma_flush", "rpma_send":
                return errno == Errno.EINVAL ? EARLY : "";
            case "rpma_write_with_imm", "rpma_send_with_imm":
                return refused(errno, "immediate data");
            case "ibv_post_send":
                return refused(errno, "immediate data, or atomic operations,");
            case "rpma_recv", "rpma_srq_recv", "rdma_post_recvv":
                return refused(errno, "receives without memory");
            case "epoll_ctl":
                return errno == Errno.ENOSPC ? "see /proc/sys/fs/epoll/max_user_watches" : "";
            case "munmap":
                return errno == Errno.ENOMEM ? "see /proc/sys/vm/max_map_count" : "";
            default:
                return "";
        }
    }

    /** Whether a call can create an object of a device. The failure to resolve a name leaves any errno. */
    private static boolean creates(String operation, String messages) {
        return operation.matches("(ibv|rdma|rpma)_.*")
                && !operation.equals("rdma_get_request")
                && !(operation + messages).contains("rdma_getaddrinfo");
    }

    /** The remedy if the cgroup permits no more devices or objects, which the kernel reports by EAGAIN. */
    private static String cgroup() {
        return "a limit of the cgroup, or of one above it, may be reached: see " + rdmaMax()
                + ", where hca_handle is the number of open devices, and hca_object that of their objects";
    }

    private static Path rdmaMax() {
        try {
            return rdmaMax(Files.readAllLines(Path.of("/proc/self/cgroup")));
        } catch (IOException | InvalidPathException e) {
            // the locale can lack the letters of the cgroup
            return rdmaMax(List.of());
        }
    }

    /** Returns the file with the limits of a cgroup, from the lines of /proc/PID/cgroup: NUMBER:CONTROLLERS:PATH. */
    static Path rdmaMax(List<String> lines) {
        String unified = "/";
        for (String line : lines) {
            String[] fields = line.split(":", 3);
            if (fields[1].equals("rdma")) {
                return Path.of("/sys/fs/cgroup/rdma", fields[2], "rdma.max");
            }
            unified = fields[1].isEmpty() ? fields[2] : unified;
        }
        return Path.of("/sys/fs/cgroup", unified, "rdma.max");
    }

    /** Whether a file rdma.max limits the number of open devices: librdmacm then reports that there is no device. */
    static boolean limitsDevices(Path rdmaMax) {
        try {
            return Files.readString(rdmaMax).matches("(?s).*hca_handle=\\d.*");
        } catch (IOException e) {
            return false;
        }
    }

    /** The remedy if librdmacm can't open its file, which it often reports by ENOMEM; an empty text if it can. */
    private static String connectionManager() {
        int fd = Natives.memoryOpen((CONNECTION_MANAGER + "\0").getBytes(StandardCharsets.UTF_8), true, false);
        if (fd >= 0) {
            Natives.memoryClose(fd);
            return "";
        }
        int errno = Result.errno(fd);
        String limit = ofFile(errno, false);
        return CONNECTION_MANAGER + " can't be opened: " + Errno.message(errno) + "; "
                + (limit.isEmpty()
                        ? "load the module rdma_ucm, permit this user to read and write the file, and give it to the container"
                                + " (--device /dev/infiniband of Docker)"
                        : limit);
    }

    private static String noMemory(String operation, Resource... objects) {
        int open = Natives.handleCount();
        int limit = Natives.handleLimit();
        return open > limit - LARGEST_OBJECT
                ? open + " objects of the library are open, of " + limit + " at most: close what is not used any more;"
                        + " those that were dropped without close() are in the log"
                : memory() + (operation.equals("rpma_peer_new") ? "; or " + deviceLimits(objects, "max_pd") : "");
    }

    /** The remedy if there is too little memory, for a failure of malloc(3) or mmap(2). */
    static String memory() {
        return "there is no memory left: see ulimit -v (" + limit("RLIMIT_AS", AS)
                + "), /proc/sys/vm/overcommit_memory and /proc/sys/vm/max_map_count";
    }

    /** The remedy if there are too few huge pages. */
    static String hugePages() {
        return "see /proc/sys/vm/nr_hugepages and /sys/kernel/mm/hugepages";
    }

    /**
     * The remedy if a file can't be opened, extended or mapped; an empty text if the cause is the file.
     *
     * @param huge whether the file has huge pages
     */
    static String ofFile(int errno, boolean huge) {
        switch (errno) {
            case Errno.EMFILE, Errno.ENFILE:
                return descriptors();
            case Errno.ENOMEM:
                return memory() + (huge ? "; for huge pages " + hugePages() : "");
            case Errno.ENOSPC:
                return huge ? hugePages() : "";
            case Errno.EFBIG:
                return "see ulimit -f (" + limit("RLIMIT_FSIZE", FSIZE) + "), and the largest file of the file system";
            default:
                return "";
        }
    }

    /** The remedy if a file of sysfs can't be read. */
    static String ofSysfs() {
        return lacksDescriptors()
                ? descriptors()
                : "sysfs must be mounted at /sys, and describe the device: see 'daxctl list' and 'lsblk'";
    }

    /** Tries it, because the text of a failure in the JDK depends on the locale. */
    private static boolean lacksDescriptors() {
        int fd = Natives.memoryOpen(new byte[] {'/', 0}, false, false);
        if (fd >= 0) {
            Natives.memoryClose(fd);
        }
        int errno = Result.errno(fd);
        return errno == Errno.EMFILE || errno == Errno.ENFILE;
    }

    /** The remedy if a thread can't be started. */
    static String threads() {
        return "see ulimit -u (" + limit("RLIMIT_NPROC", NPROC)
                + "), pids.max of the cgroup (TasksMax of systemd, --pids-limit of Docker) and /proc/sys/kernel/threads-max";
    }

    private static String limit(String name, int number) {
        long value = Natives.processLimit(number);
        return name + "=" + (value < 0 ? "unlimited" : value);
    }

    private static String descriptors() {
        return "too many descriptors are open: see ulimit -n (" + limit("RLIMIT_NOFILE", NOFILE)
                + "), and /proc/sys/fs/file-max for all processes together";
    }

    /** Returns the remedy if there is no memory for an object whose memory the kernel pins. */
    private static String pinned(Resource[] objects, String... names) {
        return lockedMemory() + "; with a limit that is high enough, " + deviceLimits(objects, names) + "; or "
                + memory();
    }

    /** The only remedy if the kernel refuses to pin memory by EPERM: the limit is then 0. */
    private static String lockedMemory() {
        return "the limit of locked memory may be too low: see ulimit -l (" + limit("RLIMIT_MEMLOCK", MEMLOCK)
                + "), LimitMEMLOCK of systemd, --ulimit memlock of Docker, or /etc/security/limits.d";
    }

    /**
     * Returns the limits of the device.
     *
     * @param objects the objects of the call; the first that has a device identifies it
     * @param names the names of the limits in {@code struct ibv_device_attr}
     */
    private static String deviceLimits(Resource[] objects, String... names) {
        byte[] limits = null;
        for (int i = 0; limits == null && i < objects.length; i++) {
            limits = objects[i].deviceLimits();
        }
        String known = "";
        if (limits != null) {
            String[] words = new String(limits, StandardCharsets.UTF_8).split(" ");
            known = Stream.of(words)
                    .skip(1)
                    .filter(word -> List.of(names).contains(word.substring(0, word.indexOf('='))))
                    .collect(Collectors.joining(", ", " " + words[0] + " (", ")"));
        }
        return "a limit of the device" + known
                + " may be exceeded: see 'ibv_devinfo -v', and 'rdma resource show' for the numbers of objects in use";
    }

    /**
     * Returns the remedy if the creation of a queue has failed; an empty text for another failure. The providers of
     * most devices pin the memory of queues.
     */
    private static String queues(String operation, int errno, String messages, Resource... objects) {
        String[] names = limitsOf(operation, messages);
        if (names.length == 0) {
            return "";
        }
        if (errno == Errno.ENOMEM) {
            return pinned(objects, names);
        }
        if (errno == Errno.EPERM) {
            return lockedMemory();
        }
        if (errno != Errno.EINVAL) {
            return "";
        }
        return (operation.equals("rdma_create_qp")
                        ? GONE
                                + " if the id is of a request, or maxInlineData() may exceed the maximum of the device, or "
                        : "")
                + deviceLimits(objects, names);
    }

    /** Returns the names of the limits that apply to the queue whose creation has failed. */
    private static String[] limitsOf(String operation, String messages) {
        if (operation.equals("rdma_create_qp")) {
            // creates completion queues too
            return new String[] {"max_qp", "max_qp_wr", "max_sge", "max_cq", "max_cqe"};
        }
        if (operation.equals("rdma_create_srq") || messages.contains("ibv_create_srq(")) {
            return new String[] {"max_srq", "max_srq_wr", "max_srq_sge"};
        }
        if (messages.contains("ibv_create_cq(")) {
            return new String[] {"max_cq", "max_cqe"};
        }
        return messages.contains("rdma_create_qp") ? new String[] {"max_qp", "max_qp_wr", "max_sge"} : new String[0];
    }

    private static String registration(int errno, Resource... objects) {
        if (errno == Errno.ENOMEM) {
            boolean large = Stream.of(objects).anyMatch(object -> object.size() > MOST_OF_SOFT_ROCE);
            return pinned(objects, "max_mr")
                    + (large ? "; or soft-RoCE of Linux 6.12 to 7.3, which registers at most 1 GiB in a region" : "");
        }
        if (errno == Errno.EPERM) {
            return lockedMemory();
        }
        if (errno == Errno.EFAULT) {
            return "the memory can't be pinned for writing: kernels from 6.5 on refuse remote writes into a mapping of an"
                    + " ordinary file (use device DAX, tmpfs, hugetlbfs or anonymous memory); a read-only mapping can only"
                    + " be the source of reads and sends, and not even that before 6.2";
        }
        if (errno == Errno.EOPNOTSUPP) {
            return "a file of a DAX file system needs a device with on-demand paging: see RpmaDevice.isOdpCapable(), or"
                    + " use device DAX";
        }
        if (errno == Errno.EINVAL) {
            return "the device may refuse this usage for this kind of memory, as soft-RoCE refuses a persistent flush to"
                    + " memory that is not persistent, or " + deviceLimits(objects, "max_mr", "max_mr_size");
        }
        return "";
    }

    /** librpma maps and registers a page for the flushes of each connection. */
    private static String connection(int errno, String messages, Resource... objects) {
        if (errno == Errno.ENOMEM) {
            return messages.contains("ibv_reg_mr(") ? pinned(objects, "max_mr") : memory();
        }
        if (errno == Errno.EPERM) {
            return messages.contains("ibv_reg_mr(") ? lockedMemory() : "";
        }
        return messages.contains("rdma_accept(")
                        && List.of(Errno.EINVAL, Errno.ECONNRESET).contains(errno)
                ? GONE
                : "";
    }

    /** The verbs have no query for most of these capabilities. A device also refuses a post that is too early. */
    private static String refused(int errno, String capability) {
        return errno == Errno.EINVAL
                ? EARLY + "; or the device may lack " + capability + " as iWARP devices do: see 'rpma-java selftest'"
                : "";
    }

    private static String devices(int errno, String messages) {
        if (errno == Errno.ENOSYS) {
            return "libibverbs reports this also if " + descriptors();
        }
        return messages.contains("ibv_open_device(") ? "see the permissions of the files in /dev/infiniband" : "";
    }

    private static String otherDevice(String operation) {
        switch (operation) {
            case "rpma_conn_req_new":
                return "the address is reached by another device than that of the peer: create the peer with the device"
                        + " that RpmaDevice.remote() finds";
            case "rpma_ep_next_conn_req":
                return "the client came by another device than that of the peer, and is rejected: listen on an address of"
                        + " the peer's device, with a peer and an endpoint for each device; the endpoint remains usable";
            default:
                return "the objects of the call belong to different devices";
        }
    }

    /** Returns the remedy if an address can't be bound to. The kernel reports EADDRNOTAVAIL for two causes. */
    private static String address(int errno, String other) {
        String show = "'rdma resource show cm_id' shows it";
        if (errno == Errno.EADDRINUSE) {
            return other + " this address and port: " + show;
        }
        return (errno == Errno.EADDRNOTAVAIL
                        ? "if " + other + " this port (" + show + "), the port is taken; otherwise "
                        : "")
                + device(errno);
    }

    private static String device(int errno) {
        boolean unopened = errno == Errno.ENODEV && limitsDevices(rdmaMax());
        return List.of(Errno.ENODEV, Errno.EADDRNOTAVAIL).contains(errno)
                ? (unopened ? cgroup() + "; or " : "")
                        + "no RDMA device has this address: see 'rdma link' and 'ip address'; soft-RoCE needs the address of its"
                        + " own interface, never 127.0.0.1"
                : "";
    }

    private static String request(String operation, int errno, String messages, Resource... objects) {
        if (messages.contains("timeout_ms=0)")) {
            return "no address is resolved in a timeout of 0: see RpmaConnCfg.setTimeout()";
        }
        if (lacksExtendedQueuePairs(errno)) {
            return EXTENDED_QUEUE_PAIRS;
        }
        String queues = queues(operation, errno, messages, objects);
        return queues.isEmpty() ? device(errno) : queues;
    }

    private static String nextRequest(String operation, int errno, String messages, Resource... objects) {
        if (lacksExtendedQueuePairs(errno)) {
            return EXTENDED_QUEUE_PAIRS;
        }
        String queues = queues(operation, errno, messages, objects);
        if (queues.isEmpty()) {
            return (errno == Errno.ENOMEM ? memory() + "; " : "") + "the endpoint remains usable";
        }
        // a queue pair can't be initialised for a request that no longer exists
        boolean gone = messages.contains("rdma_create_qp") && errno == Errno.EINVAL;
        return (gone ? GONE + ", or " : "") + queues + "; the endpoint remains usable";
    }

    private static boolean lacksExtendedQueuePairs(int errno) {
        return errno == Errno.EOPNOTSUPP || errno == Errno.ENOSYS;
    }
}
