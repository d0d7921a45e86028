// SPDX-License-Identifier: BSD-3-Clause
import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes from a memory of the library, which the program sees as a segment, to a segment of the program. */
public final class Segments {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final long VALUE = 42;
    private static final int HEX = 16;

    private Segments() {}

    /** Arguments: the address of the device, a port, and the size of the memories. Prints what has been seen. */
    public static void main(String[] arguments) throws Exception {
        long address = transfer(arguments[0], Integer.parseInt(arguments[1]), Long.parseLong(arguments[2]));
        while (isMapped(address)) {
            System.gc();
        }
        System.out.println("unmapped");
    }

    /** Returns the address of the library's memory, which no segment and no buffer keeps mapped any more. */
    private static long transfer(String address, int port, long size) throws Exception {
        Path file = sparseFile(size);
        Path otherFile = sparseFile(size);
        try (Arena arena = Arena.ofShared();
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment target = channel.map(FileChannel.MapMode.READ_WRITE, 0, size, arena);
            RpmaMemory source = RpmaMemory.map(otherFile);
            MemorySegment view = segment(source);
            view.set(LONG, size - Long.BYTES, VALUE);
            try (RpmaMrLocal from = peer.register(source, size - Long.BYTES, Long.BYTES, RpmaMrUsage.WRITE_SRC);
                    RpmaMrLocal to = register(peer, target.asSlice(size - Long.BYTES))) {
                write(peer, address, port, from, to);
            }
            System.out.println("arrived: " + target.get(LONG, size - Long.BYTES));
            MemorySegment part = MemorySegment.ofBuffer(source.buffer(size - Long.BYTES, Long.BYTES));
            try (RpmaMrLocal buffer = peer.register(part.asByteBuffer(), RpmaMrUsage.WRITE_SRC)) {
                System.out.println("part: " + part.get(LONG, 0) + ", region: " + buffer.getSize());
            }
            source.close();
            System.out.println("after the close: " + view.get(LONG, size - Long.BYTES));
            return source.address();
        } finally {
            Files.delete(file);
            Files.delete(otherFile);
        }
    }

    private static RpmaMrLocal register(RpmaPeer peer, MemorySegment segment) {
        return peer.register(segment.address(), segment.byteSize(), segment, RpmaMrUsage.WRITE_DST);
    }

    /** Returns a segment of the whole memory. The memory stays mapped while the segment is reachable. */
    private static MemorySegment segment(RpmaMemory memory) {
        ByteBuffer keeper = memory.buffer(0, 1);
        return MemorySegment.ofAddress(memory.address())
                .reinterpret(memory.size(), Arena.ofAuto(), closed -> Reference.reachabilityFence(keeper));
    }

    /** Makes a file in memory, which occupies no page until the page is written. */
    private static Path sparseFile(long size) throws IOException {
        Path path = Files.createTempFile(Path.of("/dev/shm"), "segment", null);
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(size);
        }
        return path;
    }

    private static void write(RpmaPeer peer, String address, int port, RpmaMrLocal from, RpmaMrLocal to)
            throws Exception {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect();
                RpmaConn server = ep.nextConnReq(null).connect(to.getDescriptor())) {
            if (client.nextEvent() != RpmaConnEvent.ESTABLISHED || server.nextEvent() != RpmaConnEvent.ESTABLISHED) {
                throw new IOException("not connected");
            }
            try (RpmaMrRemote remote = RpmaMrRemote.fromDescriptor(client.getPrivateData())) {
                client.write(remote, 0, from, 0, Long.BYTES, RpmaConn.F_COMPLETION_ALWAYS, 1);
                RpmaCompletions completions = RpmaCompletions.create(1);
                client.getCq().await(completions);
                if (!completions.isSuccess(0)) {
                    throw new IOException("not written: " + completions.status(0));
                }
            }
        }
    }

    private static boolean isMapped(long address) throws IOException {
        return Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)
                .lines()
                .map(line -> line.split("[- ]"))
                .anyMatch(range -> Long.parseUnsignedLong(range[0], HEX) <= address
                        && address < Long.parseUnsignedLong(range[1], HEX));
    }
}
