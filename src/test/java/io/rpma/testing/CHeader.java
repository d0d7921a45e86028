// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The constants of a C header that are defined by decimal or hexadecimal integers, shifts and bitwise ORs. */
public final class CHeader {
    private final String text;

    /** Reads a header of the system. */
    public CHeader(String name) throws IOException {
        this(Path.of("/usr/include", name));
    }

    /** Reads a header or another C file. */
    public CHeader(Path file) throws IOException {
        text = Files.readString(file).replaceAll("(?s)/\\*.*?\\*/", " ");
    }

    /** The value of a macro. */
    public int macro(String name) {
        Matcher matcher =
                Pattern.compile("(?m)^#define\\s+" + name + "\\s+(.+)$").matcher(text);
        if (!matcher.find()) {
            throw new AssertionError("no " + name + " in the header");
        }
        return value(matcher.group(1));
    }

    /** The names and values of an enumeration. */
    public Map<String, Integer> enumeration(String name) {
        Matcher matcher =
                Pattern.compile("(?s)enum\\s+" + name + "\\s*\\{(.*?)}").matcher(text);
        if (!matcher.find()) {
            throw new AssertionError("no enum " + name + " in the header");
        }
        Map<String, Integer> constants = new LinkedHashMap<>();
        int next = 0;
        for (String constant : matcher.group(1).split(",")) {
            String[] nameAndValue = constant.strip().split("\\s*=\\s*");
            if (!nameAndValue[0].isEmpty()) {
                next = nameAndValue.length > 1 ? value(nameAndValue[1]) : next;
                constants.put(nameAndValue[0], next++);
            }
        }
        return constants;
    }

    private int value(String expression) {
        int value = 0;
        for (String term : expression.replaceAll("[()]", "").split("\\|")) {
            String[] factors = term.strip().split("\\s*<<\\s*");
            int base = factors[0].matches("-?\\d+|0x[0-9a-f]+") ? Integer.decode(factors[0]) : macro(factors[0]);
            value |= factors.length > 1 ? base << Integer.parseInt(factors[1]) : base;
        }
        return value;
    }
}
