// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HintTest {
    @BeforeAll
    static void load() {
        Loader.ensureLoaded();
    }

    /** Returns a message in the form in which librpma logs a failure. */
    private static String said(int errno) {
        return "ibv_something() failed: " + Errno.message(errno);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    rpma_mr_reg,                12, ulimit -l (RLIMIT_MEMLOCK=
                    rpma_mr_reg,                14, kernels from 6.5
                    rpma_mr_reg,                95, isOdpCapable()
                    rpma_mr_reg,                22, soft-RoCE
                    rpma_utils_get_ibv_context, 19, no RDMA device has this address
                    rpma_utils_get_ibv_context, 99, no RDMA device has this address
                    rpma_ep_listen,             19, no RDMA device has this address
                    rpma_ep_listen,             98, another endpoint
                    rpma_ep_listen,             99, no RDMA device has this address
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
                    rdma_create_ep,             12, ulimit -v (RLIMIT_AS=
                    rdma_create_id,             12, ulimit -v (RLIMIT_AS=
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
                    eventfd,                    24, ulimit -n (RLIMIT_NOFILE=
                    rpma_conn_req_new,          24, ulimit -n (RLIMIT_NOFILE=
                    epoll_create1,              23, file-max
                    epoll_ctl,                  28, max_user_watches
                    munmap,                     12, max_map_count
                    """)
    void namesTheRemedyOfAProviderError(String operation, int errno, String part) {
        assertThat(Hint.of(operation, Result.PROVIDER, said(errno))).contains(part);
        assertThat(Hint.of(operation, Result.NOMEM, said(errno))).contains("ulimit -v (RLIMIT_AS=");
    }

    @ParameterizedTest
    @CsvSource({
        "rpma_mr_reg, 1",
        "epoll_create1, 12",
        "rpma_ep_listen, 0",
        "rpma_conn_req_connect, 111",
        "eventfd, 12",
        "rdma_create_qp, 19",
        "rdma_connect, 111",
        "rdma_disconnect, 22"
    })
    void isEmptyWhereTheCauseIsNotKnown(String operation, int errno) {
        assertThat(Hint.of(operation, Result.PROVIDER, said(errno))).isEmpty();
        assertThat(Hint.of(operation, Result.PROVIDER, "")).isEmpty();
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
            assertThat(Hint.of(operation, Result.PROVIDER, call + " failed: " + Errno.message(errno)))
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
        "rpma_conn_req_connect, rdma_create_event_channel()",
        "rpma_peer_new,         ibv_query_device_ex(attr={0})"
    })
    void namesNoLimitOfTheDeviceForAnotherFailure(String operation, String call) {
        assertThat(Hint.of(operation, Result.PROVIDER, call + " failed: " + Errno.message(Errno.ENOMEM)))
                .contains("ulimit -v (RLIMIT_AS=")
                .doesNotContain("device", "may");
        assertThat(Hint.of(operation, Result.PROVIDER, call + " failed: " + Errno.message(Errno.EINVAL)))
                .doesNotContain("limit", "may");
    }

    /** The drivers of most devices pin the memory of queues. */
    @Test
    void namesTheLimitOfLockedMemoryForAQueue() {
        assertThat(Hint.of("rdma_create_qp", Result.PROVIDER, Errno.message(Errno.ENOMEM)))
                .contains("ulimit -l (RLIMIT_MEMLOCK=");
        assertThat(Hint.of("rdma_create_qp", Result.PROVIDER, Errno.message(Errno.EINVAL)))
                .doesNotContain("ulimit -l")
                .contains("maxInlineData()");
    }

    @Test
    void namesTheMaximumOfProtectionDomains() {
        assertThat(Hint.of("rpma_peer_new", Result.PROVIDER, "ibv_alloc_pd() failed: " + Errno.message(Errno.EINVAL)))
                .contains("a limit of the device");
    }

    @Test
    void namesTheEndOfTheClientForAQueuePair() {
        String operation = "rpma_ep_next_conn_req";
        String invalid = " failed: " + Errno.message(Errno.EINVAL);
        assertThat(Hint.of(operation, Result.PROVIDER, "rdma_create_qp_ex()" + invalid))
                .contains("the client may have given up");
        assertThat(Hint.of(operation, Result.PROVIDER, "ibv_create_cq()" + invalid))
                .doesNotContain("given up");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma_connect", "rdma_accept"})
    void namesTheMaximumOfPrivateData(String call) {
        String message = call + "() failed: " + Errno.message(Errno.EINVAL);
        assertThat(Hint.of("rpma_conn_req_connect", Result.PROVIDER, message)).contains("56 bytes", "196 bytes");
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
        String noMemory = " failed: " + Errno.message(Errno.ENOMEM);
        assertThat(Hint.of("rpma_conn_req_connect", Result.PROVIDER, "ibv_reg_mr()" + noMemory))
                .contains("ulimit -l (RLIMIT_MEMLOCK=");
        assertThat(Hint.of("rpma_conn_req_connect", Result.PROVIDER, "mmap()" + noMemory))
                .contains("ulimit -v (RLIMIT_AS=")
                .doesNotContain("ulimit -l");
    }

    @Test
    void namesTheTimeoutOfZero() {
        String prefix = "rdma_resolve_route(timeout_ms=";
        assertThat(Hint.of("rpma_conn_req_new", Result.PROVIDER, prefix + "0) failed: " + Errno.message(22)))
                .contains("setTimeout()")
                .doesNotContain("ibv_devinfo");
        assertThat(Hint.of("rpma_conn_req_new", Result.PROVIDER, prefix + "10) failed: " + Errno.message(22)))
                .doesNotContain("setTimeout()", "ibv_devinfo");
    }

    @Test
    void namesTheLimitOfDescriptorsForNoMemory() {
        String message = "rdma_create_id() failed: " + Errno.message(12);
        assertThat(Hint.of("rpma_conn_req_new", Result.PROVIDER, message)).contains("ulimit -n");
        assertThat(Hint.of("rdma_create_ep", Result.PROVIDER, Errno.message(12)))
                .contains("ulimit -n");
        // the channel of this id is open already
        assertThat(Hint.of("rdma_create_id", Result.PROVIDER, Errno.message(12)))
                .doesNotContain("ulimit -n");
    }

    @Test
    void namesThePrerequisiteOfAFlush() {
        assertThat(Hint.of("rpma_flush", Result.NOSUPP, "")).contains("applyRemotePeerCfg()");
        assertThat(Hint.of("rpma_read", Result.NOSUPP, "")).isEmpty();
    }
}
