// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests leave no id of the kernel behind, while their endpoint stays open. */
class RequestsIT extends WithPeer {
    private static final int CLIENTS = 200;

    private RpmaEp ep;
    private int before;

    @BeforeEach
    void listen() {
        ep = RpmaEp.listen(peer, address, port);
        before = ids();
    }

    @AfterEach
    void close() {
        ep.close();
    }

    /** The ids of the connection manager, of all devices and processes. */
    private static int ids() {
        String resources;
        try {
            resources = Tool.run("rdma", "resource", "show");
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
        return Pattern.compile("\\bcm_id (\\d+)")
                .matcher(resources)
                .results()
                .mapToInt(count -> Integer.parseInt(count.group(1)))
                .sum();
    }

    /** The kernel destroys the id of a connection, and delivers requests, in the background. */
    private void assertNothingIsLeft() {
        Eventually.become("the " + before + " ids that were there before", () -> {
            takeAll();
            return ids() <= before;
        });
    }

    private void giveUp() {
        RpmaConnReq.create(peer, address, port, null).connect().close();
    }

    private void takeAll() {
        Optional<RpmaConnReq> request = next();
        while (request.isPresent()) {
            accept(request.get());
            request = next();
        }
    }

    /** A request whose client has given up can't be taken. */
    private Optional<RpmaConnReq> next() {
        while (true) {
            try {
                return ep.nextConnReq(null, 0, TimeUnit.SECONDS);
            } catch (RpmaException e) {
                assertThat(e).hasMessageContaining("rdma_create_qp_ex");
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static void accept(RpmaConnReq request) {
        try {
            request.connect().close();
        } catch (RpmaException e) {
            assertThat(e).hasMessageContaining("rdma_accept").hasMessageEndingWith("; the client may have given up");
        }
    }

    @Tag("infiniband-cm")
    @Test
    void ofClientsThatGiveUpBeforeTheyAreTaken() {
        for (int i = 0; i < CLIENTS; i++) {
            giveUp();
        }
        assertNothingIsLeft();
    }

    @Tag("infiniband-cm")
    @Test
    void ofClientsThatGiveUpBeforeTheyAreAnswered() throws Exception {
        for (int i = 0; i < CLIENTS; i++) {
            RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect();
            RpmaConnReq request =
                    ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
            client.close();
            if (i % 2 == 0) {
                accept(request);
            } else {
                request.close();
            }
        }
        assertNothingIsLeft();
    }

    @Test
    void ofClientsThatAreRefused() throws Exception {
        for (int i = 0; i < CLIENTS; i++) {
            try (RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
                ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS)
                        .orElseThrow()
                        .close();
                assertEquals(
                        RpmaConnEvent.REJECTED,
                        client.nextEvent(Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow());
            }
        }
        assertNothingIsLeft();
    }
}
