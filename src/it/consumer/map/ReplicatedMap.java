// SPDX-License-Identifier: BSD-3-Clause
import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A map with a copy in the memory of a MapStore. put() returns when the copy has the entry. Run one map for each store.
 *
 * <p>The copy is an array of slots. Slot 0 has the identity of the map. Each other slot has the entries of one key: a
 * version, and two places. The entry of version v is in place v % 2.
 */
public final class ReplicatedMap implements AutoCloseable {
    static final int SIZE = 2 << 20;
    static final long MARK = 0x6d61702d636f7079L;

    private static final int SLOT = 512;
    private static final int FIRST_PLACE = 16;
    private static final int PLACE = (SLOT - FIRST_PLACE) / 2;
    private static final int LENGTHS = 2 * Short.BYTES;

    /** Milliseconds between two attempts. */
    private static final long FIRST_PAUSE = 100;

    private static final long LONGEST_PAUSE = 3000;

    private final String address;
    private final int port;
    private final RpmaCompletions completions = RpmaCompletions.create(1);
    private final ConcurrentHashMap<String, String> values = new ConcurrentHashMap<>();
    private final Map<String, Integer> slots = new HashMap<>();
    private RpmaPeer peer;
    private RpmaMemory memory;
    private RpmaMrLocal local;
    private ByteBuffer image;
    private long identity;
    private RpmaConn conn;
    private RpmaMrRemote copy;
    private RpmaFlushType flush;

    public ReplicatedMap(String address, int port) throws IOException, InterruptedException {
        this.address = address;
        this.port = port;
        boolean connected = false;
        try {
            peer = RpmaPeer.create(RpmaDevice.remote(address));
            memory = RpmaMemory.allocate(SIZE);
            local = peer.register(memory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST);
            image = memory.buffer().order(ByteOrder.nativeOrder());
            reconnect(deadline());
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
    }

    public String get(String key) {
        return values.get(key);
    }

    public int size() {
        return values.size();
    }

    /** Returns when the other host has the entry. After a failure, tries again for a minute. */
    public synchronized void put(String key, String value) throws IOException, InterruptedException {
        long deadline = deadline();
        while (true) {
            if (conn == null) {
                reconnect(deadline);
            }
            checkRoom(key, value);
            boolean stored = false;
            try {
                store(key, value);
                stored = true;
                values.put(key, value);
                return;
            } catch (LostException | RpmaException e) {
                System.out.println(address + " is lost: " + e.getMessage());
                if (System.nanoTime() - deadline > 0) {
                    throw new IOException("not stored: " + key, e);
                }
            } finally {
                if (!stored) {
                    disconnect();
                }
            }
            Thread.sleep(FIRST_PAUSE);
        }
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    }

    private int slot(String key) {
        return slots.getOrDefault(key, slots.size() + 1) * SLOT;
    }

    private void checkRoom(String key, String value) {
        int length =
                LENGTHS + key.getBytes(StandardCharsets.UTF_8).length + value.getBytes(StandardCharsets.UTF_8).length;
        if (length > PLACE || slot(key) >= SIZE) {
            throw new IllegalArgumentException("no room for the entry of " + key);
        }
    }

    private void store(String key, String value) throws LostException, InterruptedException {
        byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
        byte[] valueBytes = value.getBytes(StandardCharsets.UTF_8);
        int length = LENGTHS + keyBytes.length + valueBytes.length;
        int slot = slot(key);
        long version = image.getLong(slot) + 1;
        int place = place(slot, version);
        image.putShort(place, (short) keyBytes.length)
                .putShort(place + Short.BYTES, (short) valueBytes.length)
                .put(place + LENGTHS, keyBytes)
                .put(place + LENGTHS + keyBytes.length, valueBytes);
        // the place that is not in use, and then the word that selects it
        conn.write(copy, place, local, place, length, RpmaConn.F_COMPLETION_ON_ERROR, 1);
        conn.flush(copy, place, length, flush, RpmaConn.F_COMPLETION_ALWAYS, 2);
        await("flush");
        commit(slot, version);
        slots.put(key, slot / SLOT);
    }

    private static int place(int slot, long version) {
        return slot + FIRST_PLACE + (int) (version % 2) * PLACE;
    }

    /** Writes 8 bytes, which a reader sees as a whole. */
    private void commit(int offset, long value) throws LostException, InterruptedException {
        conn.atomicWrite(copy, offset, value, RpmaConn.F_COMPLETION_ON_ERROR, 3);
        conn.flush(copy, offset, Long.BYTES, flush, RpmaConn.F_COMPLETION_ALWAYS, 4);
        await("commit");
        image.putLong(offset, value);
    }

    /** Waits for the next completion. After a failure the connection is not usable. */
    private void await(String operation) throws LostException, InterruptedException {
        if (conn.getCq().awaitWhileConnected(completions, 10, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
            throw new LostException(operation + ": " + completions);
        }
    }

    private void reconnect(long deadline) throws IOException, InterruptedException {
        long pause = FIRST_PAUSE;
        while (true) {
            boolean connected = false;
            try {
                connect();
                connected = true;
                return;
            } catch (LostException | RpmaException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw new IOException("no connection to " + address, e);
                }
            } finally {
                if (!connected) {
                    disconnect();
                }
            }
            Thread.sleep(pause);
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
    }

    private void connect() throws IOException, InterruptedException {
        conn = RpmaConnReq.create(peer, address, port, null).connect(10, TimeUnit.SECONDS);
        ByteBuffer offer = ByteBuffer.wrap(conn.getPrivateData());
        if (offer.getLong() != MARK) {
            throw new IOException(address + " has no MapStore");
        }
        try (RpmaPeerCfg cfg = RpmaPeerCfg.fromDescriptor(offer)) {
            conn.applyRemotePeerCfg(cfg);
            copy = RpmaMrRemote.fromDescriptor(offer);
            boolean persistent =
                    cfg.getDirectWriteToPmem() && copy.getFlushType().contains(RpmaFlushType.PERSISTENT);
            flush = persistent ? RpmaFlushType.PERSISTENT : RpmaFlushType.VISIBILITY;
        }
        conn.read(local, 0, copy, 0, SIZE, RpmaConn.F_COMPLETION_ALWAYS, 5);
        await("read");
        recover();
    }

    private void recover() throws IOException, InterruptedException {
        long found = image.getLong(0);
        slots.clear();
        if (found == 0) {
            fill();
        } else if (identity != 0 && identity != found) {
            throw new IOException(address + " has the copy of another map");
        } else {
            identity = found;
            for (int slot = SLOT; slot < SIZE && image.getLong(slot) != 0; slot += SLOT) {
                load(slot);
            }
            storeMissing();
        }
    }

    /** Stores the entries that the copy has lost. */
    private void storeMissing() throws LostException, InterruptedException {
        for (Map.Entry<String, String> entry : values.entrySet()) {
            if (!slots.containsKey(entry.getKey())) {
                store(entry.getKey(), entry.getValue());
            }
        }
    }

    /** Fills a copy that is new, or that was lost, or whose filling was interrupted. */
    private void fill() throws LostException, InterruptedException {
        while (identity == 0) {
            identity = ThreadLocalRandom.current().nextLong();
        }
        for (int slot = SLOT; slot < SIZE; slot += SLOT) {
            if (image.getLong(slot) != 0) {
                commit(slot, 0);
            }
        }
        storeMissing();
        commit(0, identity);
    }

    private void load(int slot) {
        int place = place(slot, image.getLong(slot));
        int keyLength = image.getShort(place);
        String key = text(place + LENGTHS, keyLength);
        slots.put(key, slot / SLOT);
        values.put(key, text(place + LENGTHS + keyLength, image.getShort(place + Short.BYTES)));
    }

    private String text(int offset, int length) {
        return StandardCharsets.UTF_8.decode(image.slice(offset, length)).toString();
    }

    private void disconnect() {
        RpmaConn lostConn = conn;
        RpmaMrRemote lostCopy = copy;
        try (lostConn;
                lostCopy) {
            conn = null;
            copy = null;
        }
    }

    @Override
    public synchronized void close() {
        // null if the constructor has not come so far
        RpmaPeer madePeer = peer;
        RpmaMemory madeMemory = memory;
        RpmaMrLocal madeLocal = local;
        try (madePeer;
                madeMemory;
                madeLocal) {
            disconnect();
        }
    }

    /** The other host can't be reached, or has not completed an operation. */
    private static final class LostException extends IOException {
        private static final long serialVersionUID = 1;

        LostException(String reason) {
            super(reason);
        }
    }

    /** Each line of the input is "put KEY VALUE" or "get KEY". */
    public static void main(String[] arguments) throws Exception {
        try (ReplicatedMap map = new ReplicatedMap(arguments[0], Integer.parseInt(arguments[1]));
                Scanner input = new Scanner(System.in)) {
            System.out.println(map.size() + " entries, flush " + map.flush);
            while (input.hasNext()) {
                boolean put = input.next().equals("put");
                String key = input.next();
                if (put) {
                    map.put(key, input.next());
                }
                System.out.println(key + " = " + map.get(key));
            }
        }
    }
}
