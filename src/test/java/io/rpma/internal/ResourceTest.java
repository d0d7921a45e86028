// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

class ResourceTest {
    private static final String DELETE = "rpma_peer_delete";

    private final AtomicInteger deleted = new AtomicInteger();

    /** Stands for a native method that succeeds. */
    private final LongUnaryOperator delete = id -> {
        deleted.incrementAndGet();
        return 0;
    };

    private static Resource open(String type, Resource... parents) {
        return Fake.object(type, 4711, parents);
    }

    @Test
    void isOpenUntilItIsClosed() {
        Resource object = open("RpmaPeer");
        assertThat(object.handle()).isEqualTo(4711);
        assertThat(object.isClosed()).isFalse();
        assertThatCode(object::checkOpen).doesNotThrowAnyException();
        Fake.close(object, DELETE, delete);
        assertThat(object.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(object::checkOpen).withMessage(object + " is closed");
    }

    @Test
    void hasANameOfItsOwn() {
        Resource one = open("RpmaPeer");
        Resource two = open("RpmaPeer");
        assertThat(one.toString()).matches("RpmaPeer#\\d+");
        assertThat(two.toString()).matches("RpmaPeer#\\d+").isNotEqualTo(one.toString());
    }

    @Test
    void closesOnce() {
        Resource object = open("RpmaPeer");
        for (int i = 0; i < 3; i++) {
            Fake.close(object, DELETE, delete);
        }
        assertThat(deleted).hasValue(1);
    }

    @Test
    void deletesWhatItWasOpenedWith() {
        AtomicInteger seen = new AtomicInteger();
        Fake.close(open("RpmaPeer"), DELETE, id -> {
            seen.set((int) id);
            return 0;
        });
        assertThat(seen).hasValue(4711);
    }

    @Test
    void isClosedEvenIfTheNativeFails() {
        Resource parent = open("RpmaPeer");
        Resource child = open("RpmaEp", parent);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> Fake.close(child, "rpma_ep_shutdown", id -> RpmaError.PROVIDER.code()))
                .satisfies(e -> assertThat(e.operation()).isEqualTo("rpma_ep_shutdown"));
        assertThat(child.isClosed()).isTrue();
        Fake.close(child, "rpma_ep_shutdown", delete);
        assertThat(deleted).hasValue(0);
        Fake.close(parent, DELETE, delete);
        assertThat(parent.isClosed()).isTrue();
    }

    @Test
    void isClosedEvenIfWhatIsDoneBeforeFails() {
        Resource object = open("RpmaPeer");
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
            Fake.close(object, DELETE, delete);
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }
        assertThat(done).hasValue(2);
        assertThat(uncaught)
                .singleElement()
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(deleted).hasValue(1);
    }

    @Test
    void isRefusedToCloseBeforeItsChildren() {
        Resource parent = open("RpmaPeer");
        Resource first = open("RpmaMrLocal", parent);
        Resource second = open("RpmaEp", parent);
        assertThatIllegalStateException()
                .isThrownBy(() -> Fake.close(parent, DELETE, delete))
                .withMessage(parent + " can't be closed before " + first + ", " + second);
        assertThat(parent.isClosed()).isFalse();
        Fake.close(first, "rpma_mr_dereg", delete);
        assertThatIllegalStateException()
                .isThrownBy(() -> Fake.close(parent, DELETE, delete))
                .withMessage(parent + " can't be closed before " + second);
        Fake.close(second, "rpma_ep_shutdown", delete);
        Fake.close(parent, DELETE, delete);
        assertThat(deleted).hasValue(3);
    }

    @Test
    void isAChildOfAllItsParents() {
        Resource peer = open("RpmaPeer");
        Resource memory = open("RpmaMemory");
        Resource region = open("RpmaMrLocal", peer, memory);
        for (Resource parent : new Resource[] {peer, memory}) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> Fake.close(parent, DELETE, delete))
                    .withMessageContaining(region.toString());
        }
        Fake.close(region, "rpma_mr_dereg", delete);
        Fake.close(peer, DELETE, delete);
        Fake.close(memory, DELETE, delete);
    }

    @Test
    void isNotMadeWhenAParentIsClosed() {
        Resource peer = open("RpmaPeer");
        Resource memory = open("RpmaMemory");
        Fake.close(memory, "munmap", delete);
        assertThatIllegalStateException()
                .isThrownBy(() -> Fake.object("RpmaMrLocal", peer, memory))
                .withMessage(memory + " is closed");
        assertThatCode(() -> Fake.close(peer, DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void holdsItsParentsWhileItsObjectIsMade() {
        Resource parent = open("RpmaPeer");
        Resource child = Fake.begun("RpmaEp", parent);
        assertThatIllegalStateException().isThrownBy(() -> Fake.close(parent, DELETE, delete));
        child.endMaking();
        assertThat(child.isClosed()).isTrue();
        assertThatCode(() -> Fake.close(parent, DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void leavesItsParentsWhenItsObjectCantBeMade() {
        Resource parent = open("RpmaPeer");
        Resource child = Fake.begun("RpmaEp", parent);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> child.made("rpma_ep_listen", RpmaError.NOMEM.code()))
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.NOMEM));
        child.endMaking();
        assertThat(child.isClosed()).isTrue();
        assertThatCode(() -> Fake.close(parent, DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void takesTheResultOfTheNativeThatMadeItsObject() {
        Resource object = Fake.begun("RpmaEp");
        object.made("rpma_ep_listen", 12);
        assertThat(object.handle()).isEqualTo(12);
    }

    @Test
    void leavesItsParentsWhenItsNativeDidNotReturn() {
        Resource parent = open("RpmaPeer");
        Resource child = Fake.begun("RpmaEp", parent);
        child.endMaking();
        assertThat(child.isClosed()).isTrue();
        assertThatCode(() -> Fake.close(parent, DELETE, delete)).doesNotThrowAnyException();
    }

    @Test
    void isMarkedClosedOnce() {
        Resource parent = open("RpmaEp");
        Resource request = open("RpmaConnReq", parent);
        assertThat(request.markClosed()).isTrue();
        assertThat(request.markClosed()).isFalse();
        assertThat(request.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> Fake.close(parent, DELETE, delete));
        request.leaveParents();
        Fake.close(parent, DELETE, delete);
        assertThat(deleted).hasValue(1);
    }

    @Test
    void hasPartsThatAreClosedWithIt() {
        Resource conn = open("RpmaConn");
        Resource part = conn.part("RpmaCq");
        part.madeWithWhole(12);
        assertThat(part).hasToString("RpmaCq of " + conn);
        assertThat(part.handle()).isEqualTo(12);
        assertThat(part.isClosed()).isFalse();
        Fake.close(conn, "rpma_conn_delete", delete);
        assertThat(part.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(part::checkOpen);
    }

    @Test
    void aFailureHasItsReason() {
        Resource object = Fake.begun("RpmaPeer");
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> object.made("rpma_utils_get_ibv_context", Natives.deviceGet("192.0.2.1", false)))
                .satisfies(e -> assertThat(e.detail()).contains("rdma_"));
    }

    @Test
    void makesItsObject() {
        Resource parent = open("RpmaPeer");
        Resource made = Fake.unmade("RpmaEp", parent);
        made.make("rpma_ep_listen", () -> 12);
        assertThat(made.handle()).isEqualTo(12);
        assertThatIllegalStateException().isThrownBy(() -> Fake.close(parent, DELETE, delete));
        Resource failed = Fake.unmade("RpmaEp", parent);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> failed.make("rpma_ep_listen", () -> RpmaError.NOMEM.code()));
        assertThat(failed.isClosed()).isTrue();
        Fake.close(made, "rpma_ep_shutdown", delete);
        Fake.close(parent, DELETE, delete);
    }

    /** Returns an open object whose deletion is recorded, and fails with a result. */
    private static Resource recorded(List<String> freed, String type, int result, Resource... parents) {
        Resource object = open(type, parents);
        Fake.setCloser(object, type, handle -> {
            freed.add(type);
            return result;
        });
        return object;
    }

    @Test
    void aListIsClosedChildrenFirst() {
        List<String> freed = new ArrayList<>();
        Resource peer = recorded(freed, "peer", 0);
        Resource ep = recorded(freed, "ep", 0, peer);
        Resource request = recorded(freed, "request", 0, ep);
        Resource memory = recorded(freed, "memory", 0);
        Resource region = recorded(freed, "region", 0, peer, memory);
        Resource.closeAll(List.of(peer, memory, request, ep, region, peer));
        assertThat(freed).containsExactlyInAnyOrder("peer", "ep", "request", "memory", "region");
        assertThat(freed).containsSubsequence("request", "ep", "peer");
        assertThat(freed).containsSubsequence("region", "memory").containsSubsequence("region", "peer");
    }

    /** A part can make an object the child of a newer object. */
    @Test
    void anOlderObjectCanDependOnANewerOne() {
        List<String> freed = new ArrayList<>();
        Resource older = recorded(freed, "older", 0);
        Resource newer = recorded(freed, "newer", 0);
        use(older, newer);
        assertThatIllegalStateException()
                .isThrownBy(newer::close)
                .withMessage(newer + " can't be closed before queue pair of " + older);
        Resource.closeAll(List.of(newer, older));
        assertThat(freed).containsExactly("older", "newer");
    }

    @Test
    void aListThatLacksAChildIsRefusedAsAWhole() {
        List<String> freed = new ArrayList<>();
        Resource peer = recorded(freed, "peer", 0);
        Resource ep = recorded(freed, "ep", 0, peer);
        Resource region = recorded(freed, "region", 0, peer);
        Resource other = recorded(freed, "other", 0);
        assertThatIllegalStateException()
                .isThrownBy(() -> Resource.closeAll(List.of(other, peer, ep)))
                .withMessage(peer + " can't be closed before " + region);
        assertThat(freed).isEmpty();
        assertThat(List.of(peer, ep, other)).noneMatch(Resource::isClosed);
        peer.closeTree();
        assertThat(freed).containsExactly("region", "ep", "peer");
        assertThat(other.isClosed()).isFalse();
    }

    /** Not with a child that is being made, whose native object would leak, and not with a part of another object. */
    @Test
    void aTreeIsClosedOnlyAsAWhole() {
        List<String> freed = new ArrayList<>();
        Resource id = recorded(freed, "id", 0);
        Resource memory = recorded(freed, "memory", 0);
        recorded(freed, "region", RpmaError.PROVIDER.code(), id, memory);
        recorded(freed, "ah", 0, id);
        Resource other = recorded(freed, "other", 0);
        use(other, id);
        Resource making = Fake.begun("RdmaMr", id);
        assertThatIllegalStateException()
                .isThrownBy(id::closeTree)
                .withMessage(id + " can't be closed before queue pair of " + other + ", " + making);
        assertThat(freed).isEmpty();
        making.endMaking();
        other.close();
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(id::closeTree)
                .withMessageStartingWith("region failed")
                .satisfies(e -> assertThat(e).hasNoSuppressedExceptions());
        assertThat(freed).containsExactly("other", "ah", "region", "id");
        assertThat(memory.isClosed()).isFalse();
        memory.close();
    }

    /** The handler of uncaught exceptions runs after the objects are freed: it can close their parents. */
    @Test
    void aFailureOfAnActionIsReportedAfterTheClose() {
        Resource peer = open("RpmaPeer");
        Resource region = open("RpmaMrLocal", peer);
        Resource other = open("RpmaMrLocal", peer);
        for (Resource object : List.of(region, other)) {
            object.beforeClose(() -> {
                throw new IllegalArgumentException(object.toString());
            });
        }
        List<Throwable> reported = new ArrayList<>();
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler((in, failure) -> {
            peer.closeTree();
            reported.add(failure);
        });
        try {
            region.close();
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
        assertThat(List.of(peer, region, other)).allMatch(Resource::isClosed);
        assertThat(reported).extracting(Throwable::getMessage).containsExactly(other.toString(), region.toString());
    }

    @Test
    void objectsThatDependOnEachOtherAreRefused() {
        Resource one = open("RdmaId");
        Resource other = open("RdmaId");
        use(one, other);
        use(other, one);
        assertThatIllegalStateException()
                .isThrownBy(() -> Resource.closeAll(List.of(one, other)))
                .withMessage(other + " and another object depend on each other");
        assertThat(List.of(one, other)).noneMatch(Resource::isClosed);
    }

    private static void use(Resource user, Resource used) {
        Resource use = user.part("queue pair", used);
        use.begin();
        use.madeWithWhole(0);
    }

    /** As {@code RpmaConnReq.connect}, which logs before the request has left its parents. */
    @Test
    void aParentDoesNotWaitForAChildThatIsConsumed() {
        Resource ep = open("RpmaEp");
        Resource request = open("RpmaConnReq", ep);
        assertThat(request.markClosed()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(ep::closeTree)
                .withMessage(ep + " can't be closed before " + request)
                .satisfies(e -> assertThat(e).hasNoSuppressedExceptions());
        request.leaveParents();
        ep.closeTree();
        assertThat(ep.isClosed()).isTrue();
    }

    /** Neither is closed, and the failure of the first is not repeated. */
    @Test
    void aRefusalIsReportedOnce() {
        Resource peer = open("RpmaPeer");
        Resource ep = open("RpmaEp", peer);
        Resource request = open("RpmaConnReq", ep);
        Resource other = open("RpmaMrLocal", peer);
        assertThat(request.markClosed()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(peer::closeTree)
                .withMessage(ep + " can't be closed before " + request)
                .satisfies(e -> assertThat(e).hasNoSuppressedExceptions());
        assertThat(other.isClosed()).isTrue();
        assertThat(List.of(peer, ep)).noneMatch(Resource::isClosed);
        request.leaveParents();
        peer.closeTree();
        assertThat(peer.isClosed()).isTrue();
    }

    @Test
    void allOfAListAreClosedEvenIfNativesFail() {
        List<String> freed = new ArrayList<>();
        Resource peer = recorded(freed, "peer", RpmaError.PROVIDER.code());
        Resource ep = recorded(freed, "ep", RpmaError.PROVIDER.code(), peer);
        Resource region = recorded(freed, "region", 0, peer);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> Resource.closeAll(List.of(peer, region, ep)))
                .satisfies(e -> {
                    assertThat(e.operation()).isEqualTo("ep");
                    assertThat(e.getSuppressed()).hasSize(1);
                    assertThat(((RpmaException) e.getSuppressed()[0]).operation())
                            .isEqualTo("peer");
                });
        assertThat(freed).hasSize(3);
        assertThat(List.of(peer, ep, region)).allMatch(Resource::isClosed);
        Resource.closeAll(List.of(peer, region, ep));
        assertThat(freed).hasSize(3);
    }

    /** An object that memory runs out for stays open with its parents, and the others are closed. */
    @Test
    void aListCanBeClosedAgainAfterALackOfMemory() {
        List<String> freed = new ArrayList<>();
        Resource peer = recorded(freed, "peer", 0);
        Resource ep = recorded(freed, "ep", 0, peer);
        Resource region = recorded(freed, "region", 0, peer);
        OutOfMemoryError failure = new OutOfMemoryError("of a test");
        Fake.failMark(region, failure);
        assertThatThrownBy(() -> Resource.closeAll(List.of(peer, ep, region))).isSameAs(failure);
        assertThat(freed).containsExactly("ep");
        assertThat(List.of(peer, region)).noneMatch(Resource::isClosed);
        Resource.closeAll(List.of(peer, ep, region));
        assertThat(freed).containsExactly("ep", "region", "peer");
    }

    /** A parent is freed after a child that another thread is freeing. */
    @Test
    void aListWaitsForAChildThatIsBeingClosed() throws Exception {
        List<String> freed = Collections.synchronizedList(new ArrayList<>());
        Resource peer = recorded(freed, "peer", 0);
        Resource ep = open("ep", peer);
        CountDownLatch deleting = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> Fake.close(ep, DELETE, id -> {
            deleting.countDown();
            await(go);
            freed.add("ep");
            return 0;
        }));
        await(deleting);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread closer = new Thread(() -> {
            Resource.closeAll(List.of(ep, peer));
            interrupted.complete(Thread.currentThread().isInterrupted());
        });
        closer.start();
        Eventually.become("the list waits", () -> peer.isClosed() && closer.getState() == Thread.State.WAITING);
        closer.interrupt();
        go.countDown();
        closer.join();
        closing.get();
        assertThat(freed).containsExactly("ep", "peer");
        assertThat(interrupted).isCompletedWithValue(true);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Limit.WAIT_S, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
