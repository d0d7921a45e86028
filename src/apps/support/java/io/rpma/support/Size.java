// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Sizes in bytes in a readable form: 4096, 64k, 64KiB, 1M, 2g. */
public final class Size implements ITypeConverter<Long> {
    private static final String UNITS = "KMGT";
    private static final Pattern SYNTAX = Pattern.compile("(\\d{1,18})(?:([KMGT])(?:I?B)?|B)?");

    @Override
    public Long convert(String text) {
        Matcher size = SYNTAX.matcher(text.strip().toUpperCase(Locale.ROOT));
        if (!size.matches()) {
            throw new TypeConversionException("'" + text + "' is no size: write 4096, 64k, 1M or 2G");
        }
        int power = size.group(2) == null ? 0 : UNITS.indexOf(size.group(2)) + 1;
        try {
            return Math.multiplyExact(Long.parseLong(size.group(1)), 1L << 10 * power);
        } catch (ArithmeticException e) {
            throw new TypeConversionException("'" + text + "' is beyond 2^63 bytes");
        }
    }

    /** Formats a size, for example 1 byte, 64 KiB, 128.3 MiB. */
    public static String format(double bytes) {
        int power = 0;
        double value = bytes;
        while (value >= 1024 && power < UNITS.length()) {
            value /= 1024;
            power++;
        }
        String unit = power == 0 ? (bytes == 1 ? "byte" : "bytes") : UNITS.charAt(power - 1) + "iB";
        return String.format(Locale.ROOT, value == Math.rint(value) ? "%.0f %s" : "%.1f %s", value, unit);
    }

    /** Formats a rate, for example 57.1 MiB/s. */
    public static String rate(long bytes, long nanos) {
        return format(Math.rint(bytes / (Math.max(1, nanos) / 1e9))) + "/s";
    }

    /** Formats a size with the exact number, for example 134574080 bytes (128.3 MiB). */
    public static String exact(long bytes) {
        return bytes < 1024 ? format(bytes) : bytes + " bytes (" + format(bytes) + ")";
    }
}
