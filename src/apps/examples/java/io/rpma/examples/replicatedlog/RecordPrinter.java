// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import io.rpma.support.Program;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Prints records, one per line: sequence number, length, text. */
final class RecordPrinter implements LogReader.Visitor {
    /** Text is UTF-8, regardless of the locale. */
    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

    @Override
    public void visit(long sequence, ByteBuffer record, long end) throws IOException {
        ByteBuffer payload = LogLayout.payload(record);
        Program.print(out, sequence + " " + payload.remaining() + " " + StandardCharsets.UTF_8.decode(payload));
    }
}
