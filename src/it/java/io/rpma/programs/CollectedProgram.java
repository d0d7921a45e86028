// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.internal.Natives;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.LogCapture;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import java.io.IOException;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The other process of {@code CollectedMemoryIT}: registers memory, drops its objects, collects garbage, and meanwhile
 * checks its other memory.
 */
public final class CollectedProgram {
    public static final int SIZE = 1 << 16;
    public static final byte LAST = 0x5a;
    public static final String LISTENING = "listening";
    public static final String COLLECTED = "everything else is collected";
    public static final String INTACT = "the memory is intact";

    private static final int NEIGHBOURS = 24;
    private static final RpmaMrUsage[] USAGES = {RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC};
    private static final RdmaAccess[] ACCESS = RdmaAccess.values();

    /** The facade that registers the memory and connects, with the classes of the dropped objects. */
    public enum Facade {
        LIBRPMA(RpmaPeer.class, RpmaMrLocal.class, RpmaConn.class),
        LIBRDMACM(RdmaMr.class, RdmaId.class);

        public final List<String> dropped;

        Facade(Class<?>... dropped) {
            this.dropped = Stream.of(dropped).map(Class::getSimpleName).collect(Collectors.toList());
        }

        private boolean areReported(List<String> messages) {
            return dropped.stream()
                    .allMatch(name -> messages.stream().anyMatch(message -> message.startsWith(name + "#")));
        }
    }

    /** How the memory is registered. */
    public enum Kind {
        MEMORY,
        BUFFER,
        OWNER
    }

    private final List<WeakReference<Object>> dropped = new ArrayList<>();
    private WeakReference<Object> memory;
    private long address;

    private CollectedProgram() {}

    /**
     * @param arguments the facade, the kind, the address, the port and the number of rounds
     */
    public static void main(String[] arguments) throws Exception {
        Facade facade = Facade.valueOf(arguments[0]);
        CollectedProgram program = new CollectedProgram();
        try (LogCapture log = new LogCapture(record -> System.err.println(record.getMessage()))) {
            program.offer(
                    facade,
                    Kind.valueOf(arguments[1]),
                    new InetSocketAddress(arguments[2], Integer.parseInt(arguments[3])));
            for (int round = 0; round < Integer.parseInt(arguments[4]); round++) {
                useOtherMemory((byte) round);
            }
            Eventually.becomeByGc(
                    "everything is collected", () -> program.dropped.stream().allMatch(object -> object.get() == null));
            System.out.println(COLLECTED);
            // a thread reports the objects some time after the collection
            Eventually.become("everything is reported", () -> facade.areReported(log.messages()));
        }
        program.checkMemory();
    }

    private static <T> T watch(List<WeakReference<Object>> references, T object) {
        references.add(new WeakReference<>(object));
        return object;
    }

    /** Offers the memory to the other side and drops all references. */
    private void offer(Facade facade, Kind kind, InetSocketAddress listenAddress) throws InterruptedException {
        if (facade == Facade.LIBRPMA) {
            offerByRpma(kind, listenAddress);
        } else {
            offerByRdmacm(kind, listenAddress);
        }
    }

    private void offerByRpma(Kind kind, InetSocketAddress listenAddress) throws InterruptedException {
        String host = listenAddress.getHostString();
        RpmaPeer peer = watch(dropped, RpmaPeer.create(RpmaDevice.local(host)));
        RpmaMrLocal region = watch(dropped, register(kind, peer));
        address = region.getPtr();
        try (RpmaEp ep = RpmaEp.listen(peer, host, listenAddress.getPort())) {
            System.out.println(LISTENING);
            RpmaConn conn = ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS)
                    .orElseThrow()
                    .connect(region.getDescriptor());
            watch(dropped, conn);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
        }
    }

    private void offerByRdmacm(Kind kind, InetSocketAddress listenAddress) throws InterruptedException {
        try (RdmaId listener = RdmaId.create(RdmaPortSpace.TCP)) {
            listener.bindAddr(listenAddress);
            listener.listen(0);
            System.out.println(LISTENING);
            RdmaId id = watch(dropped, RdmaPair.request(listener));
            id.createQp(RdmaPair.attr());
            RdmaMr region = watch(dropped, register(kind, id));
            address = region.address();
            id.accept(new RdmaConnParam().privateData(descriptor(region)));
            id.awaitEvent(RdmaEventType.ESTABLISHED, Limit.WAIT_S, TimeUnit.SECONDS);
        }
    }

    /** Returns a descriptor in librpma's format. */
    private static byte[] descriptor(RdmaMr region) {
        return ByteBuffer.allocate(RpmaMrLocal.DESCRIPTOR_SIZE)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(region.address())
                .putLong(region.size())
                .putInt(region.rkey())
                .put((byte) mask(USAGES))
                .array();
    }

    private static int mask(RpmaMrUsage... usages) {
        return Stream.of(usages).mapToInt(usage -> 1 << usage.ordinal()).sum();
    }

    private RpmaMrLocal register(Kind kind, RpmaPeer peer) {
        if (kind == Kind.MEMORY) {
            return peer.register(mapping(), USAGES);
        }
        ByteBuffer buffer = buffer();
        return kind == Kind.BUFFER
                ? peer.register(buffer, USAGES)
                : peer.register(Natives.bufferAddress(buffer), SIZE, buffer, USAGES);
    }

    private RdmaMr register(Kind kind, RdmaId id) {
        if (kind == Kind.MEMORY) {
            return RdmaMr.reg(id, mapping(), ACCESS);
        }
        ByteBuffer buffer = buffer();
        return kind == Kind.BUFFER
                ? RdmaMr.reg(id, buffer, ACCESS)
                : RdmaMr.reg(id, Natives.bufferAddress(buffer), SIZE, buffer, ACCESS);
    }

    private RpmaMemory mapping() {
        RpmaMemory mapping = RpmaMemory.allocate(SIZE);
        memory = new WeakReference<>(mapping);
        return mapping;
    }

    private ByteBuffer buffer() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
        memory = new WeakReference<>(buffer);
        return buffer;
    }

    /** Allocates and frees memory, which would get the region's addresses if they were free. */
    private static void useOtherMemory(byte pattern) {
        System.gc();
        List<ByteBuffer> others = new ArrayList<>();
        List<RpmaMemory> mappings = new ArrayList<>();
        for (int i = 0; i < NEIGHBOURS; i++) {
            others.add(ByteBuffer.allocateDirect(SIZE));
            RpmaMemory mapping = RpmaMemory.allocate(SIZE);
            mappings.add(mapping);
            others.add(mapping.buffer());
        }
        for (ByteBuffer other : others) {
            while (other.hasRemaining()) {
                other.put(pattern);
            }
        }
        System.gc();
        for (ByteBuffer other : others) {
            checkBytes(other.flip(), pattern);
        }
        others.clear();
        mappings.forEach(RpmaMemory::close);
    }

    private void checkMemory() throws IOException {
        Object kept = memory.get();
        if (kept == null) {
            throw new AssertionError("the memory is collected");
        }
        // the other side writes its last bytes before it lets this process continue
        if (System.in.read() < 0) {
            throw new AssertionError("the other side is gone");
        }
        checkBytes(Natives.memoryBuffer(address, SIZE), LAST);
        Reference.reachabilityFence(kept);
        System.out.println(INTACT);
    }

    private static void checkBytes(ByteBuffer bytes, byte expected) {
        for (int i = 0; i < bytes.limit(); i++) {
            if (bytes.get(i) != expected) {
                throw new AssertionError("byte " + i + " of " + bytes + " is " + bytes.get(i) + ", not " + expected);
            }
        }
    }
}
