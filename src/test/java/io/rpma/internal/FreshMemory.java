// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The memory of {@link RpmaMemory#allocate}, from smaps: no other anonymous memory has the flag "dc" (not copied on
 * fork).
 */
public final class FreshMemory {
    private static final int HEX = 16;
    private static final int FIELDS_WITHOUT_NAME = 5;

    /** The addresses from {@code start} up to {@code end}. The kernel merges adjacent mappings. */
    private record Range(long start, long end) {}

    private FreshMemory() {}

    public static boolean contains(long address) {
        return ranges().stream().anyMatch(range -> range.start <= address && address < range.end);
    }

    public static long bytes() {
        return ranges().stream().mapToLong(range -> range.end - range.start).sum();
    }

    private static List<Range> ranges() {
        List<Range> ranges = new ArrayList<>();
        String[] fields = {};
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/smaps"), StandardCharsets.ISO_8859_1)) {
                String[] words = line.split(" +");
                if (words[0].matches("[0-9a-f]+-[0-9a-f]+")) {
                    fields = words;
                } else if (words[0].equals("VmFlags:")
                        && fields.length == FIELDS_WITHOUT_NAME
                        && Arrays.asList(words).contains("dc")) {
                    String[] addresses = fields[0].split("-");
                    ranges.add(new Range(Long.parseLong(addresses[0], HEX), Long.parseLong(addresses[1], HEX)));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ranges;
    }
}
