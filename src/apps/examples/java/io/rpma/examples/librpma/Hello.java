// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import java.nio.ByteBuffer;

/** A greeting, in one of two languages: librpma's {@code struct hello_t}. */
final class Hello {
    static final int STRING_OFFSET = Integer.BYTES;
    static final int STRING_SIZE = Common.KILOBYTE;
    static final int SIZE = STRING_OFFSET + STRING_SIZE;

    private static final String[] GREETINGS = {"Hello world!", "¡Hola Mundo!"};

    private Hello() {}

    static void init(ByteBuffer hello) {
        write(hello, 0);
    }

    static String greeting(ByteBuffer hello) {
        return Common.text(hello.slice(STRING_OFFSET, STRING_SIZE));
    }

    /** Changes the greeting to the next language. */
    static void translate(ByteBuffer hello) {
        Common.OUT.println("translating...");
        write(hello, Math.floorMod(hello.getInt(0) + 1, GREETINGS.length));
    }

    /** Prints the greeting that was in a server's memory before the client's greeting. */
    static void printOld(CommonMemory mem) {
        String old = Common.text(mem.data(STRING_SIZE));
        if (!old.isEmpty()) {
            Common.OUT.println("Old value: " + old);
        }
    }

    /** Prints the client's greeting in a server's memory. */
    static void printNew(CommonMemory mem) {
        Common.OUT.println("New value: " + Common.text(mem.data(STRING_SIZE)));
    }

    private static void write(ByteBuffer hello, int language) {
        hello.putInt(0, language);
        hello.put(STRING_OFFSET, new byte[STRING_SIZE]);
        hello.put(STRING_OFFSET, Common.bytes(GREETINGS[language]));
    }
}
