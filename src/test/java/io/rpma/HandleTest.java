package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class HandleTest {
    private static final String DELETE = "rpma_peer_delete";

    private final AtomicInteger deleted = new AtomicInteger();

    /** Stands for a native that succeeds. */
    private final LongUnaryOperator delete = id -> {
        deleted.incrementAndGet();
        return 0;
    };

    private static Handle open(String type, Handle... parents) {
        return Fake.handle(type, 4711, parents);
    }

    @Test
    void isOpenUntilItIsClosed() {
        Handle handle = open("RpmaPeer");
        assertThat(handle.id()).isEqualTo(4711);
        assertThat(handle.isClosed()).isFalse();
        assertThatCode(handle::checkOpen).doesNotThrowAnyException();
        handle.close(DELETE, delete);
        assertThat(handle.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(handle::checkOpen).withMessage(handle + " is closed");
    }

    @Test
    void hasANameOfItsOwn() {
        Handle one = open("RpmaPeer");
        Handle two = open("RpmaPeer");
        assertThat(one.toString()).matches("RpmaPeer#\\d+");
        assertThat(two.toString()).matches("RpmaPeer#\\d+").isNotEqualTo(one.toString());
    }

    @Test
    void closesOnce() {
        Handle handle = open("RpmaPeer");
        for (int i = 0; i < 3; i++) {
            handle.close(DELETE, delete);
        }
        assertThat(deleted).hasValue(1);
    }

    @Test
    void deletesWhatItWasOpenedWith() {
        AtomicInteger seen = new AtomicInteger();
        open("RpmaPeer").close(DELETE, id -> {
            seen.set((int) id);
            return 0;
        });
        assertThat(seen).hasValue(4711);
    }

    @Test
    void isClosedEvenIfTheNativeFails() {
        Handle parent = open("RpmaPeer");
        Handle child = open("RpmaEp", parent);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> child.close("rpma_ep_shutdown", id -> RpmaError.PROVIDER.code()))
                .satisfies(e -> assertThat(e.operation()).isEqualTo("rpma_ep_shutdown"));
        assertThat(child.isClosed()).isTrue();
        child.close("rpma_ep_shutdown", delete);
        assertThat(deleted).hasValue(0);
        parent.close(DELETE, delete);
        assertThat(parent.isClosed()).isTrue();
    }

    @Test
    void isClosedEvenIfWhatIsDoneBeforeFails() {
        Handle handle = open("RpmaPeer");
        AtomicInteger done = new AtomicInteger();
        List<Throwable> uncaught = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            handle.beforeClose(() -> {
                done.incrementAndGet();
                throw new IllegalStateException("of a test");
            });
        }
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
        try {
            handle.close(DELETE, delete);
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }
        assertThat(done).hasValue(2);
        assertThat(uncaught).hasSize(2);
        assertThat(deleted).hasValue(1);
    }

    @Test
    void isRefusedToCloseBeforeItsChildren() {
        Handle parent = open("RpmaPeer");
        Handle first = open("RpmaMrLocal", parent);
        Handle second = open("RpmaEp", parent);
        assertThatIllegalStateException()
                .isThrownBy(() -> parent.close(DELETE, delete))
                .withMessage(parent + " can't be closed before " + first + ", " + second);
        assertThat(parent.isClosed()).isFalse();
        first.close("rpma_mr_dereg", delete);
        assertThatIllegalStateException()
                .isThrownBy(() -> parent.close(DELETE, delete))
                .withMessage(parent + " can't be closed before " + second);
        second.close("rpma_ep_shutdown", delete);
        parent.close(DELETE, delete);
        assertThat(deleted).hasValue(3);
    }

    @Test
    void isAChildOfAllItsParents() {
        Handle peer = open("RpmaPeer");
        Handle memory = open("RpmaMemory");
        Handle region = open("RpmaMrLocal", peer, memory);
        for (Handle parent : new Handle[] {peer, memory}) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> parent.close(DELETE, delete))
                    .withMessageContaining(region.toString());
        }
        region.close("rpma_mr_dereg", delete);
        peer.close(DELETE, delete);
        memory.close(DELETE, delete);
    }

    @Test
    void isNotMadeWhenAParentIsClosed() {
        Handle peer = open("RpmaPeer");
        Handle memory = open("RpmaMemory");
        memory.close("munmap", delete);
        assertThatIllegalStateException()
                .isThrownBy(() -> Fake.handle("RpmaMrLocal", peer, memory))
                .withMessage(memory + " is closed");
        assertThatCode(() -> peer.close(DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void holdsItsParentsWhileItsObjectIsMade() {
        Handle parent = open("RpmaPeer");
        Handle child = Fake.begun("RpmaEp", parent);
        assertThatIllegalStateException().isThrownBy(() -> parent.close(DELETE, delete));
        child.abandon();
        assertThat(child.isClosed()).isTrue();
        assertThatCode(() -> parent.close(DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void leavesItsParentsWhenItsObjectCantBeMade() {
        Handle parent = open("RpmaPeer");
        Handle child = Fake.begun("RpmaEp", parent);
        long failed = RpmaError.NOMEM.code();
        child.made(failed);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> child.checkMade("rpma_ep_listen", failed))
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.NOMEM));
        assertThat(child.isClosed()).isTrue();
        assertThatCode(() -> parent.close(DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void takesTheResultOfTheNativeThatMadeItsObject() {
        Handle handle = Fake.begun("RpmaEp");
        handle.made("rpma_ep_listen", 12);
        assertThat(handle.id()).isEqualTo(12);
    }

    @Test
    void hasLeftItsParentsWhenMessagesAreDelivered() {
        Handle parent = open("RpmaPeer");
        Handle child = open("RpmaEp", parent);
        RpmaLog.setFunction(
                (level, fileName, lineNo, functionName, message) -> parent.close("rpma_peer_delete", delete));
        try {
            assertThat(Natives.deviceGet("192.0.2.1", false)).isNegative();
            child.close("rpma_ep_shutdown", delete);
        } finally {
            RpmaLog.setFunction(null);
        }
        assertThat(parent.isClosed()).isTrue();
        assertThat(deleted).hasValue(2);
    }

    @Test
    void leavesItsParentsWhenItsNativeDidNotReturn() {
        Handle parent = open("RpmaPeer");
        Handle child = Fake.begun("RpmaEp", parent);
        child.made(Natives.CLOSED);
        assertThat(child.isClosed()).isTrue();
        assertThatCode(() -> parent.close(DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void isDisownedOnce() {
        Handle parent = open("RpmaEp");
        Handle request = open("RpmaConnReq", parent);
        assertThat(request.disown()).isTrue();
        assertThat(request.disown()).isFalse();
        assertThat(request.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> parent.close(DELETE, delete));
        request.leaveParents();
        parent.close(DELETE, delete);
        assertThat(deleted).hasValue(1);
    }

    @Test
    void hasPartsThatAreClosedWithIt() {
        Handle conn = open("RpmaConn");
        Handle part = conn.part("RpmaCq");
        part.made(12);
        assertThat(part).hasToString("RpmaCq of " + conn);
        assertThat(part.id()).isEqualTo(12);
        assertThat(part.isClosed()).isFalse();
        conn.close("rpma_conn_delete", delete);
        assertThat(part.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(part::checkOpen);
    }

    /** Others are woken between the call and the exception, and other calls may follow. */
    @Test
    void aFailureKeepsItsReason() {
        Handle object = Fake.begun("RpmaPeer");
        long result = Natives.deviceGet("192.0.2.1", false);
        object.made(result);
        RpmaConnCfg.create().close();
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> object.checkMade("rpma_utils_get_ibv_context", result))
                .satisfies(e -> assertThat(e.detail()).contains("rdma_"));
    }
}
