// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import io.rpma.channel.Message;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.apache.ratis.util.ReflectionUtils;

/** The form of requests and answers: a byte, and a message of Ratis. */
final class Wire {
    /** An answer is the reply. */
    static final int REPLY = 0;

    /** An answer is an exception: the name of its class, a line feed, and its message. */
    static final int EXCEPTION = 1;

    private static final String EXCEPTIONS = "org.apache.ratis.protocol.exceptions.";

    private Wire() {}

    /** Returns a byte and a message. */
    static Message message(int first, MessageLite content) {
        int size = content.getSerializedSize();
        return new Message() {
            @Override
            public int length() {
                return 1 + size;
            }

            @Override
            public void writeTo(ByteBuffer target) {
                target.put((byte) first);
                try {
                    CodedOutputStream out = CodedOutputStream.newInstance(target);
                    content.writeTo(out);
                    out.flush();
                } catch (IOException e) {
                    throw new UncheckedIOException(e); // The target has room.
                }
            }
        };
    }

    /** Parses an answer. */
    static <T> T parseAnswer(ByteBuffer bytes, Parser<T> parser) {
        try {
            if (bytes.get() == REPLY) {
                return parser.parseFrom(CodedInputStream.newInstance(bytes));
            }
        } catch (IOException e) {
            throw new CompletionException(e);
        }
        throw new CompletionException(
                toException(StandardCharsets.UTF_8.decode(bytes).toString()));
    }

    /** Returns an exception as an answer. */
    static Message exception(Throwable thrown) {
        Throwable cause = thrown;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        byte[] text = (cause.getClass().getName() + "\n" + cause.getMessage()).getBytes(StandardCharsets.UTF_8);
        return Message.of(ByteBuffer.allocate(1 + text.length)
                .put((byte) EXCEPTION)
                .put(text)
                .flip());
    }

    /** Makes the exception again, if it is one of Ratis that has only a message. */
    private static IOException toException(String text) {
        int end = text.indexOf('\n');
        String name = end < 0 ? "" : text.substring(0, end);
        String message = text.substring(end + 1);
        if (name.startsWith(EXCEPTIONS)) {
            try {
                return ReflectionUtils.instantiateException(
                        Class.forName(name, false, Wire.class.getClassLoader()).asSubclass(IOException.class), message);
            } catch (Exception | LinkageError e) {
                // as another exception, below
            }
        }
        return new IOException(name + ": " + message);
    }
}
