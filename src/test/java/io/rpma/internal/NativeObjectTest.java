package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class NativeObjectTest {
    private static final String DELETE = "rpma_peer_delete";

    private final AtomicInteger deleted = new AtomicInteger();

    /** Stands for a native method that succeeds. */
    private final LongUnaryOperator delete = id -> {
        deleted.incrementAndGet();
        return 0;
    };

    private static NativeObject open(String type, NativeObject... parents) {
        return Fake.object(type, 4711, parents);
    }

    @Test
    void isOpenUntilItIsClosed() {
        NativeObject object = open("RpmaPeer");
        assertThat(object.handle()).isEqualTo(4711);
        assertThat(object.isClosed()).isFalse();
        assertThatCode(object::checkOpen).doesNotThrowAnyException();
        object.close(DELETE, delete);
        assertThat(object.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(object::checkOpen).withMessage(object + " is closed");
    }

    @Test
    void hasANameOfItsOwn() {
        NativeObject one = open("RpmaPeer");
        NativeObject two = open("RpmaPeer");
        assertThat(one.toString()).matches("RpmaPeer#\\d+");
        assertThat(two.toString()).matches("RpmaPeer#\\d+").isNotEqualTo(one.toString());
    }

    @Test
    void closesOnce() {
        NativeObject object = open("RpmaPeer");
        for (int i = 0; i < 3; i++) {
            object.close(DELETE, delete);
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
        NativeObject parent = open("RpmaPeer");
        NativeObject child = open("RpmaEp", parent);
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
        NativeObject object = open("RpmaPeer");
        AtomicInteger done = new AtomicInteger();
        List<Throwable> uncaught = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            object.beforeClose(() -> {
                done.incrementAndGet();
                throw new IllegalStateException("of a test");
            });
        }
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
        try {
            object.close(DELETE, delete);
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }
        assertThat(done).hasValue(2);
        assertThat(uncaught).hasSize(2);
        assertThat(deleted).hasValue(1);
    }

    @Test
    void isRefusedToCloseBeforeItsChildren() {
        NativeObject parent = open("RpmaPeer");
        NativeObject first = open("RpmaMrLocal", parent);
        NativeObject second = open("RpmaEp", parent);
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
        NativeObject peer = open("RpmaPeer");
        NativeObject memory = open("RpmaMemory");
        NativeObject region = open("RpmaMrLocal", peer, memory);
        for (NativeObject parent : new NativeObject[] {peer, memory}) {
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
        NativeObject peer = open("RpmaPeer");
        NativeObject memory = open("RpmaMemory");
        memory.close("munmap", delete);
        assertThatIllegalStateException()
                .isThrownBy(() -> Fake.object("RpmaMrLocal", peer, memory))
                .withMessage(memory + " is closed");
        assertThatCode(() -> peer.close(DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void holdsItsParentsWhileItsObjectIsMade() {
        NativeObject parent = open("RpmaPeer");
        NativeObject child = Fake.begun("RpmaEp", parent);
        assertThatIllegalStateException().isThrownBy(() -> parent.close(DELETE, delete));
        child.endMaking();
        assertThat(child.isClosed()).isTrue();
        assertThatCode(() -> parent.close(DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void leavesItsParentsWhenItsObjectCantBeMade() {
        NativeObject parent = open("RpmaPeer");
        NativeObject child = Fake.begun("RpmaEp", parent);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> child.made("rpma_ep_listen", RpmaError.NOMEM.code()))
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.NOMEM));
        child.endMaking();
        assertThat(child.isClosed()).isTrue();
        assertThatCode(() -> parent.close(DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void takesTheResultOfTheNativeThatMadeItsObject() {
        NativeObject object = Fake.begun("RpmaEp");
        object.made("rpma_ep_listen", 12);
        assertThat(object.handle()).isEqualTo(12);
    }

    @Test
    void leavesItsParentsWhenItsNativeDidNotReturn() {
        NativeObject parent = open("RpmaPeer");
        NativeObject child = Fake.begun("RpmaEp", parent);
        child.endMaking();
        assertThat(child.isClosed()).isTrue();
        assertThatCode(() -> parent.close(DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void isMarkedClosedOnce() {
        NativeObject parent = open("RpmaEp");
        NativeObject request = open("RpmaConnReq", parent);
        assertThat(request.markClosed()).isTrue();
        assertThat(request.markClosed()).isFalse();
        assertThat(request.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> parent.close(DELETE, delete));
        request.leaveParents();
        parent.close(DELETE, delete);
        assertThat(deleted).hasValue(1);
    }

    @Test
    void hasPartsThatAreClosedWithIt() {
        NativeObject conn = open("RpmaConn");
        NativeObject part = conn.part("RpmaCq");
        part.madeWithWhole(12);
        assertThat(part).hasToString("RpmaCq of " + conn);
        assertThat(part.handle()).isEqualTo(12);
        assertThat(part.isClosed()).isFalse();
        conn.close("rpma_conn_delete", delete);
        assertThat(part.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(part::checkOpen);
    }

    @Test
    void aFailureHasItsReason() {
        NativeObject object = Fake.begun("RpmaPeer");
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> object.made("rpma_utils_get_ibv_context", Natives.deviceGet("192.0.2.1", false)))
                .satisfies(e -> assertThat(e.detail()).contains("rdma_"));
    }

    @Test
    void makesItsObject() {
        NativeObject parent = open("RpmaPeer");
        NativeObject made = new NativeObject(new Object(), "RpmaEp", parent);
        made.make("rpma_ep_listen", () -> 12);
        assertThat(made.handle()).isEqualTo(12);
        assertThatIllegalStateException().isThrownBy(() -> parent.close(DELETE, delete));
        NativeObject failed = new NativeObject(new Object(), "RpmaEp", parent);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> failed.make("rpma_ep_listen", () -> RpmaError.NOMEM.code()));
        assertThat(failed.isClosed()).isTrue();
        made.close("rpma_ep_shutdown", delete);
        parent.close(DELETE, delete);
    }

    /** Not a child that is being made, whose native object would leak, and not a child of another kind. */
    @Test
    void closesTheChildrenThatAreClosedWithIt() {
        NativeObject parent = open("RdmaId");
        NativeObject failing = open("RdmaMr", parent)
                .closedWithParent(child -> child.close("rdma_dereg_mr", id -> RpmaError.PROVIDER.code()));
        NativeObject other = open("RdmaAh", parent).closedWithParent(child -> child.close("ibv_destroy_ah", delete));
        NativeObject user = open("queue pair", parent);
        NativeObject making = new NativeObject(new Object(), "RdmaMr", parent)
                .closedWithParent(child -> child.close("rdma_dereg_mr", delete));
        making.begin();
        Exception failure = new Exception("test");
        parent.closeChildren(failure);
        assertThat(List.of(failing, other)).allMatch(NativeObject::isClosed);
        assertThat(List.of(user, making, parent)).noneMatch(NativeObject::isClosed);
        assertThat(deleted).hasValue(1);
        assertThat(failure.getSuppressed())
                .singleElement()
                .satisfies(e -> assertThat(e).hasMessageStartingWith("rdma_dereg_mr failed"));
        assertThatIllegalStateException()
                .isThrownBy(() -> parent.close(DELETE, delete))
                .withMessage(parent + " can't be closed before " + user + ", " + making);
        making.endMaking();
        user.close(DELETE, delete);
        parent.close(DELETE, delete);
    }
}
