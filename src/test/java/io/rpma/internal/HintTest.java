// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HintTest {
    @BeforeAll
    static void load() {
        Loader.ensureLoaded();
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    rpma_mr_reg,                12, ulimit -l (RLIMIT_MEMLOCK=
                    rpma_mr_reg,                1,  ulimit -l (RLIMIT_MEMLOCK=
                    rpma_mr_reg,                14, kernels from 6.5
                    rpma_mr_reg,                95, isOdpCapable()
                    rpma_mr_reg,                22, soft-RoCE
                    rpma_utils_get_ibv_context, 19, no RDMA device has this address
                    rpma_utils_get_ibv_context, 99, no RDMA device has this address
                    rpma_ep_listen,             19, no RDMA device has this address
                    rpma_ep_listen,             98, another endpoint
                    rpma_ep_listen,             99, no RDMA device has this address
                    rpma_ep_listen,             99, another endpoint listens on this port
                    rdma_bind_addr,             99, another id has this port
                    rpma_conn_req_new,          18, another device than that of the peer
                    rpma_ep_next_conn_req,      18, an endpoint for each device; the endpoint remains usable
                    rdma_create_qp,             18, different devices
                    ibv_post_send,              18, different devices
                    rpma_conn_req_new,          19, no RDMA device has this address
                    rpma_conn_req_new,          38, extended queue pairs
                    rpma_conn_req_new,          95, extended queue pairs
                    rpma_ep_next_conn_req,      22, the endpoint remains usable
                    rpma_ep_next_conn_req,      95, extended queue pairs
                    rdma_reg_msgs,              12, ulimit -l
                    rdma_reg_read,              12, ulimit -l
                    rdma_reg_write,             14, kernels from 6.5
                    ibv_reg_mr,                 12, ulimit -l
                    rdma_get_devices,           38, ulimit -n
                    rdma_getaddrinfo,           99, the name is unknown
                    rdma_getaddrinfo,           19, no RDMA device has this address
                    rdma_create_id,             19, no RDMA device has this address
                    rdma_create_ep,             98, another id
                    rdma_bind_addr,             99, no RDMA device has this address
                    rdma_listen,                98, another id
                    rdma_resolve_addr,          19, no RDMA device has this address
                    rdma_resolve_addr,           6, the node GUID of the device is 0
                    rdma_get_cm_event,           6, the node GUID of the device is 0
                    rdma_get_request,            6, the node GUID of the device is 0
                    rdma_create_ep,              6, the node GUID of the device is 0
                    rdma_create_qp,             22, ibv_devinfo
                    rdma_create_srq,            12, ibv_devinfo
                    rdma_connect,               22, private data
                    rdma_accept,                22, private data
                    rdma_reject,                22, private data
                    rdma_get_request,           11, ulimit -n (RLIMIT_NOFILE=
                    ibv_create_ah,              12, a limit of the device
                    ibv_create_ah_from_wc,      12, ulimit -v (RLIMIT_AS=
                    ibv_reg_mr,                 12, ulimit -v (RLIMIT_AS=
                    rdma_bind_addr,             12, ulimit -v (RLIMIT_AS=
                    rdma_connect,               12, ulimit -v (RLIMIT_AS=
                    rdma_create_qp,             12, ulimit -v (RLIMIT_AS=
                    rdma_create_srq,            12, ulimit -v (RLIMIT_AS=
                    rdma_get_devices,           12, ulimit -v (RLIMIT_AS=
                    rdma_get_request,           11, ulimit -v (RLIMIT_AS=
                    rdma_get_request,           12, ulimit -v (RLIMIT_AS=
                    rdma_getaddrinfo,           12, ulimit -v (RLIMIT_AS=
                    rdma_listen,                12, ulimit -v (RLIMIT_AS=
                    rdma_resolve_addr,          12, ulimit -v (RLIMIT_AS=
                    rdma_resolve_route,         12, ulimit -v (RLIMIT_AS=
                    rpma_conn_next_event,       12, ulimit -v (RLIMIT_AS=
                    rpma_conn_req_connect,      12, ulimit -v (RLIMIT_AS=
                    rpma_conn_req_new,          12, ulimit -v (RLIMIT_AS=
                    rpma_ep_listen,             12, ulimit -v (RLIMIT_AS=
                    rpma_ep_next_conn_req,      12, ulimit -v (RLIMIT_AS=
                    rpma_mr_reg,                12, ulimit -v (RLIMIT_AS=
                    rpma_utils_get_ibv_context, 12, ulimit -v (RLIMIT_AS=
                    ibv_create_ah,              11, /rdma.max
                    ibv_reg_mr,                 11, /rdma.max
                    rdma_bind_addr,             11, /rdma.max
                    rdma_create_qp,             11, /rdma.max
                    rdma_create_srq,            11, /rdma.max
                    rdma_get_devices,           11, /rdma.max
                    rdma_get_request,           11, /rdma.max
                    rdma_reg_read,              11, /rdma.max
                    rpma_conn_req_connect,      11, /rdma.max
                    rpma_conn_req_new,          11, /rdma.max
                    rpma_ep_next_conn_req,      11, /rdma.max
                    rpma_mr_reg,                11, /rdma.max
                    rpma_peer_new,              11, /rdma.max
                    rpma_srq_new,               11, /rdma.max
                    rpma_utils_get_ibv_context, 11, /rdma.max
                    rpma_atomic_write,          22, returned ESTABLISHED
                    rpma_flush,                 22, returned ESTABLISHED
                    rpma_read,                  22, returned ESTABLISHED
                    rpma_send,                  22, returned ESTABLISHED
                    rpma_send_with_imm,         22, returned ESTABLISHED
                    rpma_write,                 22, returned ESTABLISHED
                    rpma_write,                 107, returned ESTABLISHED
                    rdma_post_write,            107, returned ESTABLISHED
                    ibv_post_send,              107, returned ESTABLISHED
                    rdma_accept,                22, the client may have given up
                    rdma_reject,                22, the client may have given up
                    rdma_accept,                104, the client may have given up
                    rdma_reject,                104, the client may have given up
                    rdma_create_qp,             22, the client may have given up
                    eventfd,                    24, ulimit -n (RLIMIT_NOFILE=
                    rpma_conn_req_new,          24, ulimit -n (RLIMIT_NOFILE=
                    epoll_create1,              23, file-max
                    epoll_ctl,                  28, max_user_watches
                    munmap,                     12, max_map_count
                    """)
    void namesTheRemedyOfAProviderError(String operation, int errno, String part) {
        assertThat(Hint.of(operation, Result.PROVIDER, errno, "")).contains(part);
        assertThat(Hint.of(operation, Result.NOMEM, errno, "")).contains("ulimit -v (RLIMIT_AS=");
    }

    @ParameterizedTest
    @CsvSource({
        "rpma_mr_reg, 5",
        "epoll_create1, 12",
        "epoll_ctl, 11",
        "rdma_getaddrinfo, 11",
        "rpma_ep_listen, 0",
        "rpma_conn_req_connect, 111",
        "eventfd, 12",
        "rdma_create_qp, 19",
        "rdma_connect, 111",
        "rdma_disconnect, 22"
    })
    void isEmptyWhereTheCauseIsNotKnown(String operation, int errno) {
        assertThat(Hint.of(operation, Result.PROVIDER, errno, "")).isEmpty();
        assertThat(Hint.of(operation, Result.PROVIDER, 0, "")).isEmpty();
    }

    /** The limits of the device are named only if the creation of a queue has failed. */
    @ParameterizedTest
    @CsvSource({
        "rpma_conn_req_new,     rdma_create_qp_ex(max_send_wr=9)",
        "rpma_conn_req_new,     ibv_create_cq()",
        "rpma_srq_new,          ibv_create_srq()",
        "rpma_ep_next_conn_req, rdma_create_qp_ex(max_send_wr=9)",
        "rdma_create_qp,        ''",
        "rdma_create_srq,       ''"
    })
    void namesTheLimitsOfTheDeviceForAQueue(String operation, String call) {
        for (int errno : new int[] {Errno.ENOMEM, Errno.EINVAL}) {
            assertThat(Hint.of(operation, Result.PROVIDER, errno, call))
                    .contains("a limit of the device may be exceeded: see 'ibv_devinfo -v'");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "rpma_conn_req_new,     rdma_resolve_addr()",
        "rpma_conn_req_new,     rdma_resolve_route(timeout_ms=10)",
        "rpma_conn_req_new,     ibv_create_comp_channel()",
        "rpma_conn_req_new,     ibv_req_notify_cq()",
        "rpma_srq_new,          ibv_req_notify_cq()",
        "rpma_ep_next_conn_req, rdma_get_cm_event()",
        "rpma_conn_req_connect, rdma_migrate_id()",
        "rpma_peer_new,         ibv_query_device_ex(attr={0})"
    })
    void namesNoLimitOfTheDeviceForAnotherFailure(String operation, String call) {
        assertThat(Hint.of(operation, Result.PROVIDER, Errno.ENOMEM, call))
                .contains("ulimit -v (RLIMIT_AS=")
                .doesNotContain("device", "may");
        assertThat(Hint.of(operation, Result.PROVIDER, Errno.EINVAL, call)).doesNotContain("limit", "may");
    }

    /** The drivers of most devices pin the memory of queues. */
    @Test
    void namesTheLimitOfLockedMemoryForAQueue() {
        assertThat(Hint.of("rdma_create_qp", Result.PROVIDER, Errno.ENOMEM, "")).contains("ulimit -l (RLIMIT_MEMLOCK=");
        assertThat(Hint.of("rdma_create_qp", Result.PROVIDER, Errno.EINVAL, ""))
                .doesNotContain("ulimit -l")
                .contains("maxInlineData()");
    }

    @Test
    void namesTheMaximumOfProtectionDomains() {
        assertThat(Hint.of("rpma_peer_new", Result.PROVIDER, Errno.EINVAL, "ibv_alloc_pd()"))
                .contains("a limit of the device");
    }

    @Test
    void namesTheEndOfTheClientForAQueuePair() {
        String operation = "rpma_ep_next_conn_req";
        assertThat(Hint.of(operation, Result.PROVIDER, Errno.EINVAL, "rdma_create_qp_ex()"))
                .contains("the client may have given up");
        assertThat(Hint.of(operation, Result.PROVIDER, Errno.EINVAL, "ibv_create_cq()"))
                .doesNotContain("given up");
    }

    /** The length of the private data is checked before the call. */
    @Test
    void namesTheEndOfTheClientForAnAcceptance() {
        String operation = "rpma_conn_req_connect";
        assertThat(Hint.of(operation, Result.PROVIDER, Errno.EINVAL, "rdma_accept()"))
                .isEqualTo("the client may have given up");
        assertThat(Hint.of(operation, Result.PROVIDER, Errno.EINVAL, "rdma_connect()"))
                .isEmpty();
    }

    @Test
    void namesTheLimitOfLockedMemoryForNoPermission() {
        for (String call : List.of("ibv_create_cq", "ibv_create_srq", "rdma_create_qp_ex")) {
            assertThat(Hint.of("rpma_conn_req_new", Result.PROVIDER, Errno.EPERM, call + "()"))
                    .contains("ulimit -l (RLIMIT_MEMLOCK=");
        }
        String connect = "rpma_conn_req_connect";
        assertThat(Hint.of(connect, Result.PROVIDER, Errno.EPERM, "ibv_reg_mr()"))
                .contains("ulimit -l (RLIMIT_MEMLOCK=");
        assertThat(Hint.of(connect, Result.PROVIDER, Errno.EPERM, "rdma_accept()"))
                .isEmpty();
    }

    /** librdmacm loses the reason. */
    @Test
    void namesTheCgroupForAnAddressThatIsNotResolved() {
        assertThat(Hint.of("rpma_conn_req_new", Result.PROVIDER, Errno.EPERM, "rdma_resolve_addr(timeout_ms=1000)"))
                .contains("/rdma.max");
    }

    @ParameterizedTest
    @CsvSource({
        "0::/a b/c,               /sys/fs/cgroup/a b/c/rdma.max",
        "0::/,                    /sys/fs/cgroup/rdma.max",
        "4:memory:/m|0::/u,       /sys/fs/cgroup/u/rdma.max",
        "4:rdma:/r:d|0::/u,       /sys/fs/cgroup/rdma/r:d/rdma.max",
        "1:name=systemd:/,        /sys/fs/cgroup/rdma.max"
    })
    void namesTheFileOfTheCgroup(String lines, Path file) {
        assertThat(Hint.rdmaMax(List.of(lines.split("\\|")))).isEqualTo(file);
    }

    @Test
    void knowsWhetherTheCgroupLimitsDevices(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("rdma.max");
        assertThat(Hint.limitsDevices(file)).isFalse();
        Files.writeString(file, "mlx5_0 hca_handle=max hca_object=10\n");
        assertThat(Hint.limitsDevices(file)).isFalse();
        Files.writeString(file, "mlx5_0 hca_handle=max hca_object=max\nrxe0 hca_handle=0 hca_object=max\n");
        assertThat(Hint.limitsDevices(file)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "24, false, ulimit -n (RLIMIT_NOFILE=",
        "23, false, file-max",
        "12, false, ulimit -v (RLIMIT_AS=",
        "12, true,  nr_hugepages",
        "28, true,  nr_hugepages",
        "27, false, ulimit -f (RLIMIT_FSIZE="
    })
    void namesTheLimitForAFile(int errno, boolean huge, String part) {
        assertThat(Hint.ofFile(errno, huge)).contains(part);
    }

    @Test
    void isEmptyIfTheCauseIsTheFile() {
        assertThat(Hint.ofFile(2, false)).isEmpty();
        assertThat(Hint.ofFile(Errno.ENOSPC, false)).isEmpty();
    }

    /** A connection has a page for flushes, which librpma maps and registers. */
    @Test
    void distinguishesThePageOfAConnection() {
        assertThat(Hint.of("rpma_conn_req_connect", Result.PROVIDER, Errno.ENOMEM, "ibv_reg_mr()"))
                .contains("ulimit -l (RLIMIT_MEMLOCK=");
        assertThat(Hint.of("rpma_conn_req_connect", Result.PROVIDER, Errno.ENOMEM, "mmap()"))
                .contains("ulimit -v (RLIMIT_AS=")
                .doesNotContain("ulimit -l");
    }

    @Test
    void namesTheTimeoutOfZero() {
        String prefix = "rdma_resolve_route(timeout_ms=";
        assertThat(Hint.of("rpma_conn_req_new", Result.PROVIDER, Errno.EINVAL, prefix + "0)"))
                .contains("setTimeout()")
                .doesNotContain("ibv_devinfo");
        assertThat(Hint.of("rpma_conn_req_new", Result.PROVIDER, Errno.EINVAL, prefix + "10)"))
                .doesNotContain("setTimeout()", "ibv_devinfo");
    }

    @Test
    void namesThePrerequisiteOfAFlush() {
        assertThat(Hint.of("rpma_flush", Result.NOSUPP, 0, "")).contains("applyRemotePeerCfg()");
        assertThat(Hint.of("rpma_read", Result.NOSUPP, 0, "")).isEmpty();
    }
}
