// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Uses every second page of a mapped file, so that the pages are no common mapping: arguments: directory, number of
 * pages. If the program makes no progress for a second, a thread gives back 1,000 other pages, as a JVM does with
 * memory of its own.
 */
public final class MappingsProgram {
    private static final int PAGE = 4096;
    private static final int RETURNED = 1000;

    private final AtomicInteger used = new AtomicInteger();

    private MappingsProgram() {}

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        int pages = Integer.parseInt(args[1]);
        MappingsProgram program = new MappingsProgram();
        try (FileChannel channel = create(directory);
                FileChannel returned = create(directory)) {
            program.use(returned, RETURNED);
            Thread thread = new Thread(() -> program.giveBack(returned));
            thread.setDaemon(true);
            thread.start();
            program.use(channel, pages);
        }
        System.out.println("used " + pages + " pages");
    }

    private static FileChannel create(Path directory) throws IOException {
        return FileChannel.open(
                Files.createTempFile(directory, "pages", ""), StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private void use(FileChannel channel, int pages) throws IOException {
        MappedByteBuffer buffer = channel.map(MapMode.READ_WRITE, 0, 2L * PAGE * pages);
        for (int page = 0; page < pages; page++) {
            buffer.put(2 * PAGE * page, (byte) 1);
            used.incrementAndGet();
        }
    }

    private void giveBack(FileChannel channel) {
        try {
            int before;
            do {
                before = used.get();
                TimeUnit.SECONDS.sleep(1);
            } while (used.get() != before);
            channel.truncate(0);
            System.out.println("gave back " + RETURNED + " pages");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
