package io.rpma;

import io.rpma.testing.Eventually;
import java.io.IOException;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The other process of {@link CollectedMemoryIT}: registers memory, drops everything, collects garbage, and watches its
 * other memory meanwhile.
 */
final class CollectedProgram {
    static final int SIZE = 1 << 16;
    static final byte LAST = 0x5a;
    static final String LISTENING = "listening";
    static final String COLLECTED = "everything else is collected";
    static final String INTACT = "the memory is intact";

    private static final int NEIGHBOURS = 24;

    /** How the memory is registered. */
    enum Kind {
        MEMORY,
        BUFFER,
        OWNER
    }

    private final List<WeakReference<Object>> dropped = new ArrayList<>();
    private WeakReference<Object> memory;
    private long address;

    private CollectedProgram() {}

    /**
     * @param arguments the kind, the address, the port and how often garbage is collected
     */
    public static void main(String[] arguments) throws Exception {
        CollectedProgram program = new CollectedProgram();
        program.offer(Kind.valueOf(arguments[0]), arguments[1], Integer.parseInt(arguments[2]));
        for (int round = 0; round < Integer.parseInt(arguments[3]); round++) {
            useOtherMemory((byte) round);
        }
        Eventually.becomeByGc(
                "everything is collected", () -> program.dropped.stream().allMatch(object -> object.get() == null));
        System.out.println(COLLECTED);
        program.checkMemory();
    }

    private static <T> T watch(List<WeakReference<Object>> references, T object) {
        references.add(new WeakReference<>(object));
        return object;
    }

    /** Gives the memory away and forgets everything. */
    private void offer(Kind kind, String listenAddress, int port) throws InterruptedException {
        RpmaPeer peer = watch(dropped, RpmaPeer.create(RpmaDevice.local(listenAddress)));
        RpmaMrLocal region = watch(dropped, register(kind, peer));
        address = region.getPtr();
        try (RpmaEp ep = RpmaEp.listen(peer, listenAddress, port)) {
            System.out.println(LISTENING);
            RpmaConn conn = ep.nextConnReq(null, Pair.TIMEOUT_S, TimeUnit.SECONDS)
                    .orElseThrow()
                    .connect(region.getDescriptor());
            watch(dropped, conn);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
        }
    }

    private RpmaMrLocal register(Kind kind, RpmaPeer peer) {
        RpmaMrUsage[] usages = {RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC};
        if (kind == Kind.MEMORY) {
            RpmaMemory mapped = RpmaMemory.allocate(SIZE);
            memory = new WeakReference<>(mapped);
            return peer.register(mapped, usages);
        }
        ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
        memory = new WeakReference<>(buffer);
        return kind == Kind.BUFFER
                ? peer.register(buffer, usages)
                : peer.register(Natives.bufferAddress(buffer), SIZE, buffer, usages);
    }

    /** Takes memory that would be given the region's addresses if they were free, and gives it back. */
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
        // the other side has written it before it lets this one go on
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
