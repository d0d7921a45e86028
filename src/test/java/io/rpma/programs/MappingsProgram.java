// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Uses every second page of a mapped file, so that the pages are no common mapping: arguments: directory, number of pages. */
public final class MappingsProgram {
    private static final int PAGE = 4096;

    private MappingsProgram() {}

    public static void main(String[] args) throws IOException {
        int pages = Integer.parseInt(args[1]);
        Path file = Files.createTempFile(Path.of(args[0]), "pages", "");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer buffer = channel.map(MapMode.READ_WRITE, 0, 2L * PAGE * pages);
            for (int page = 0; page < pages; page++) {
                buffer.put(2 * PAGE * page, (byte) 1);
            }
        }
        System.out.println("used " + pages + " pages");
    }
}
