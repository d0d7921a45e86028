// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaAh;
import io.rpma.rdmacm.RdmaBatch;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEvent;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQpInitAttr;
import io.rpma.rdmacm.RdmaSgeList;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The texts of the objects of all public classes: the class, what identifies the object, and whether it is closed. */
@Tag("stand-in")
class ToStringTest {
    private static final String ADDRESS = TestDevice.address();

    private final Set<Class<?>> described = new HashSet<>();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final List<Runnable> checksOfClosed = new ArrayList<>();

    /** Checks an object that has no end. */
    private void check(Object object, String facts) {
        described.add(object.getClass());
        assertThat(object).hasToString(object.getClass().getSimpleName() + facts);
    }

    /** Checks an open object. It is checked again, without the facts of its native object, after it is closed. */
    private void check(Object object, List<String> facts, String... nativeFacts) {
        described.add(object.getClass());
        assertThat(object.toString()).startsWith(object.getClass().getSimpleName());
        if (object instanceof AutoCloseable) {
            open.add((AutoCloseable) object);
        }
        assertFacts(object, Stream.concat(facts.stream(), Stream.of(nativeFacts)));
        checksOfClosed.add(() -> assertFacts(object, Stream.concat(facts.stream(), Stream.of("closed"))));
    }

    private static void assertFacts(Object object, Stream<String> facts) {
        String text = facts.collect(Collectors.joining(", "));
        assertThat(object).hasToString(name(object) + (text.isEmpty() ? "" : "[" + text + "]"));
    }

    @Test
    void hasTheClassTheFactsAndTheEnd() throws Exception {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(5);
                Pair pair = Pair.connect(cfg);
                Regions regions = new Regions(pair.peer, 64);
                RdmaPair ids = RdmaPair.connect();
                RdmaDatagramPair datagrams = RdmaDatagramPair.connect()) {
            checkConfigurations();
            checkPeer(pair.peer);
            checkConnection(pair);
            checkMemory(pair.peer, regions);
            checkIds(ids);
            checkDatagrams(datagrams);
            checkTheRest();
            assertThat(described).containsExactlyInAnyOrderElementsOf(classesWithObjects());
            RpmaObjects.closeAll(open);
            checksOfClosed.forEach(Runnable::run);
        }
    }

    private void checkConfigurations() {
        check(
                RpmaConnCfg.create().setTimeout(7).setRcqSize(3).setComplChannel(true),
                List.of(),
                "timeout=7 ms, cqSize=10, sqSize=10, rqSize=10, rcqSize=3, complChannel=true");
        check(RpmaSrqCfg.create().setRqSize(5), List.of(), "rqSize=5, rcqSize=20");
        check(RpmaPeerCfg.create().setDirectWriteToPmem(true), List.of(), "directWriteToPmem=true");
        check(
                new RdmaQpInitAttr()
                        .maxSendWr(2)
                        .maxRecvWr(3)
                        .maxSendSge(4)
                        .maxRecvSge(5)
                        .maxInlineData(6),
                "[maxSendWr=2, maxRecvWr=3, maxSendSge=4, maxRecvSge=5, maxInlineData=6, sigAll=false, srq=null]");
        check(
                new RdmaConnParam().privateData(new byte[3]).retryCount(5),
                "[privateData=3 bytes, responderResources=255, initiatorDepth=255, flowControl=false, retryCount=5,"
                        + " rnrRetryCount=7]");
    }

    private void checkPeer(RpmaPeer peer) {
        String parent = name(peer);
        check(peer, List.of("standin0"));
        check(peer.device(), "[standin0]");
        RpmaPort first = peer.device().ports().get(0);
        List<String> addresses =
                first.addresses().stream().map(InetAddress::getHostAddress).toList();
        assertThat(addresses).contains(ADDRESS);
        check(first, "[1, ACTIVE, ETHERNET, MTU 1024, [lo], " + addresses + "]");
        check(RpmaSrq.create(peer, null), List.of(parent));
        int port = TestDevice.port();
        check(RpmaEp.listen(peer, ADDRESS, port), List.of(parent, ADDRESS + " port " + port));
        check(RpmaConnReq.create(peer, ADDRESS, port, null), List.of(parent, "to " + ADDRESS + " port " + port));
    }

    private void checkConnection(Pair pair) {
        String queuePair = "queue pair " + pair.server.getQpNum();
        check(pair.server, List.of(name(pair.peer), queuePair, "ESTABLISHED"));
        check(pair.server.getCq(), List.of());
        assertThat(pair.server.getRcq().orElseThrow()).hasToString("receive RpmaCq of " + name(pair.server));
        assertThat(pair.client.toString()).matches(".*#\\d+, to " + ADDRESS + " port \\d+, queue pair .*");
        open.add(pair.client);
    }

    private void checkMemory(RpmaPeer peer, Regions regions) {
        String usages = regions.local.usages().toString();
        check(RpmaMemory.allocate(8), List.of("ANONYMOUS", "8 bytes"));
        check(regions.local, List.of(name(peer), name(regions.localMemory), "64 bytes", usages));
        check(regions.remote, List.of("64 bytes", usages));
        open.addAll(List.of(regions.target, regions.localMemory, regions.remoteMemory));
        RpmaMemory memory = RpmaMemory.allocate(200);
        RpmaMemoryPool pool = RpmaMemoryPool.create(memory, 64);
        check(pool, List.of(name(memory), "3 buffers"));
        // closeAll() refuses a pool
        open.remove(pool);
        open.add(memory);
        pool.close();
        check(new RpmaMemoryPool.SizeClass(64, 3), "[length=64, count=3]");
    }

    private void checkIds(RdmaPair ids) throws InterruptedException {
        String local = "local " + ids.client.localAddr().orElseThrow();
        String remote = "remote " + ids.client.peerAddr().orElseThrow();
        check(ids.client, List.of("TCP"), local, remote);
        check(ids.client.qp(), List.of("queue pair " + ids.client.qp().qpNum()));
        String key = "rkey 0x" + Integer.toHexString(ids.clientMr.rkey());
        check(ids.clientMr, List.of(name(ids.client), name(ids.clientMemory), "4096 bytes", key));
        open.addAll(List.of(ids.server, ids.serverMr, ids.clientMemory, ids.serverMemory));
        RdmaId owner = RdmaPair.resolved(7);
        check(owner.createSrq(4, 1), List.of("4 receives"));
        open.add(owner);
        RdmaBatch batch = RdmaBatch.create(8);
        batch.write(ids.client.qp(), ids.clientMr, 0, 8, 0, 0, 0, 1);
        check(batch, "[1 of 8]");
        check(batch.prepare(), "[0 of 1 posted]");
        check(RdmaAddrInfo.passive(ADDRESS, 7, RdmaPortSpace.TCP), List.of("TCP", "passive"), "/" + ADDRESS + ":7");
    }

    private void checkDatagrams(RdmaDatagramPair datagrams) {
        RdmaAh ah = datagrams.client.createAh(datagrams.established);
        check(ah, List.of(name(datagrams.client)));
        open.add(datagrams.client);
        // the text of an event is the constant of its type
        described.add(RdmaEvent.class);
        assertThat(datagrams.established).hasToString("ESTABLISHED");
    }

    private void checkTheRest() {
        check(
                new RpmaDeviceEvent(RpmaDeviceEvent.Type.PORT_ERR, 1, 0, -1),
                "[type=PORT_ERR, port=1, qpNum=0, complFd=-1]");
        check(RpmaEventLoop.create(), List.of());
        check(RpmaCompletions.create(1), "[]");
        check(RpmaBatch.create(8), "[0 of 8]");
        check(RdmaSgeList.create(2), "[0 parts, 0 bytes]");
        check(RdmaInlineData.create(16), "[16 bytes]");
        described.add(RpmaException.class);
        assertThat(new RpmaException("call", RpmaError.INVAL, 0, "reason", ""))
                .hasToString("io.rpma.RpmaException: call failed: " + RpmaError.INVAL.message() + " (INVAL): reason");
    }

    /** The public classes of the module that have objects, except the enumerations, whose texts are their constants. */
    private static List<Class<?>> classesWithObjects() throws Exception {
        ModuleReference module =
                ModuleFinder.of(Jvm.libraryJar()).find("io.rpma").orElseThrow();
        List<Class<?>> found = new ArrayList<>();
        try (ModuleReader reader = module.open()) {
            for (String file :
                    reader.list().filter(name -> name.endsWith(".class")).toList()) {
                String name = file.replace(".class", "").replace('/', '.');
                boolean exported = module.descriptor().exports().stream()
                        .anyMatch(exports -> name.matches(exports.source() + "\\.[A-Z]\\w*(\\$[A-Z]\\w*)*"));
                if (exported && isPublicWithObjects(Class.forName(name))) {
                    found.add(Class.forName(name));
                }
            }
        }
        return found;
    }

    private static boolean isPublicWithObjects(Class<?> type) {
        return Modifier.isPublic(type.getModifiers())
                && !type.isInterface()
                && !type.isEnum()
                && Arrays.stream(type.getMethods())
                        .filter(method -> method.getDeclaringClass() == type)
                        .mapToInt(Method::getModifiers)
                        .anyMatch(modifiers -> !Modifier.isStatic(modifiers));
    }

    /** A call of the kernel holds the lock of the id. */
    @Test
    void doesNotWait() throws Exception {
        try (StandIn standIn = StandIn.open();
                RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            id.bindAddr(RdmaPair.address(TestDevice.port()));
            standIn.hold("ucma:LISTEN", 1);
            CompletableFuture<Void> listening = CompletableFuture.runAsync(() -> id.listen(0));
            standIn.awaitHeld(1);
            // the common pool can have one thread only, which listens
            FutureTask<String> text = new FutureTask<>(id::toString);
            new Thread(text).start();
            try {
                assertThat(text.get(Limit.WAIT_S, TimeUnit.SECONDS)).contains(ADDRESS);
            } finally {
                standIn.letGo();
            }
            listening.get(Limit.WAIT_S, TimeUnit.SECONDS);
        }
    }
}
