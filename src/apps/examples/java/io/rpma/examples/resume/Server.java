// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaPeer;
import io.rpma.support.MemoryServer;
import io.rpma.support.OfferedMemory;
import io.rpma.support.Sha256;
import io.rpma.support.Size;
import io.rpma.support.TargetMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;

/** Offers its memory to one client after the other, and checks complete copies. */
final class Server {
    /** The identifier of this program, which a client expects: "rcpy". */
    static final int SERVICE = 0x7263_7079;

    private final String address;
    private final int port;

    Server(String address, int port) {
        this.address = address;
        this.port = port;
    }

    /**
     * Serves until there is a complete copy of a client's file.
     *
     * @param where the memory: a path or {@link TargetMemory#AUTO}
     * @param size of the memory in bytes, or 0
     * @param directWrite whether the operator has stated that the platform makes written bytes persistent
     * @param keep whether to continue after a complete copy
     * @throws IOException if the memory can't be mapped, or a complete copy differs from the announced file
     */
    void serve(String where, long size, boolean directWrite, boolean keep) throws IOException, InterruptedException {
        TargetMemory target = new TargetMemory(size, System.out::println);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMemory memory = target.open(where)) {
            System.out.println("memory " + target.description() + ", " + Size.format(memory.size()));
            if (CopyLayout.capacity(memory.size()) < 0) {
                throw new IOException("the memory is too small: " + Size.exact(memory.size()));
            }
            System.out.println(describe(read(memory)));
            try (RpmaMrLocal region = target.register(peer, memory);
                    OfferedMemory offered = new OfferedMemory(peer, memory, region, directWrite);
                    MemoryServer server =
                            new MemoryServer(peer, offered, address, port, SERVICE, System.out::println)) {
                boolean complete;
                do {
                    CopyLayout.resetAnnouncement(header(memory));
                    server.serve();
                    complete = check(memory);
                } while (keep || !complete);
            }
        }
    }

    private static Optional<CopyLayout.Copy> read(RpmaMemory memory) {
        return CopyLayout.read(header(memory), memory.size());
    }

    private static ByteBuffer header(RpmaMemory memory) {
        return memory.buffer(0, CopyLayout.HEADER_LENGTH);
    }

    private static String describe(Optional<CopyLayout.Copy> found) {
        if (found.isEmpty()) {
            return "the memory holds no copy";
        }
        CopyLayout.Copy copy = found.get();
        return "the memory holds " + (copy.isComplete() ? "a complete copy" : "an unfinished copy")
                + ", which is offered: " + copy.position() + " of " + copy.size() + " bytes, SHA-256 "
                + Sha256.format(copy.digest());
    }

    /**
     * Prints the result of the last client. Returns whether the memory has a complete copy of the file that this client
     * has announced; a copy that only an earlier client has announced does not count.
     */
    static boolean check(RpmaMemory memory) throws IOException {
        OptionalLong announced = CopyLayout.announced(header(memory));
        long capacity = CopyLayout.capacity(memory.size());
        if (announced.isEmpty()) {
            System.out.println("no file was announced");
            return false;
        }
        if (announced.getAsLong() > capacity) {
            System.out.println("the client's file does not fit: it has " + Size.exact(announced.getAsLong())
                    + ", and the memory has room for " + Size.exact(capacity));
            return false;
        }
        Optional<CopyLayout.Copy> found = read(memory);
        if (found.isEmpty() || !found.get().isComplete()) {
            System.out.println(describe(found));
            return false;
        }
        CopyLayout.Copy copy = found.get();
        if (copy.size() != announced.getAsLong()) {
            System.out.println("the copy of " + copy.size() + " bytes is not of the announced file, which has "
                    + announced.getAsLong() + " bytes");
            return false;
        }
        byte[] digest = Sha256.of(memory, CopyLayout.DATA, copy.size(), done -> {});
        System.out.println("SHA-256 " + Sha256.format(digest));
        System.out.println("size " + copy.size() + " bytes");
        if (!Arrays.equals(digest, copy.digest())) {
            throw new IOException("the copy is complete, but not the file that the client has announced");
        }
        return true;
    }
}
