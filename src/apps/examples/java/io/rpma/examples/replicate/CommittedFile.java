// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicate;

import io.rpma.RpmaMemory;
import io.rpma.support.Output;
import io.rpma.support.Progress;
import io.rpma.support.Sha256;
import io.rpma.support.Size;
import java.io.IOException;
import java.util.Arrays;
import java.util.OptionalLong;

/** The file that a sender has committed in this side's memory. */
final class CommittedFile {
    private final RpmaMemory memory;
    private final long capacity;
    private final Output output;

    /**
     * Prepares to check a memory, which may have no file.
     *
     * @throws IOException if the memory has no room for a file
     */
    CommittedFile(RpmaMemory memory, Output output) throws IOException {
        this.memory = memory;
        this.output = output;
        capacity = Layout.capacity(memory.size());
        if (capacity < 0) {
            throw new IOException("the memory is too small: " + Size.exact(memory.size()) + ", and the header takes "
                    + Size.exact(Layout.DATA));
        }
    }

    /**
     * Compares the file with the header.
     *
     * @param description of the memory, for the user
     * @return whether a file is committed
     * @throws IOException if the file in the memory differs from the committed file
     */
    boolean check(String description) throws IOException {
        OptionalLong committed = Layout.committedLength(memory);
        if (committed.isEmpty()) {
            return false;
        }
        long length = committed.getAsLong();
        if (length < 0 || length > capacity) {
            throw new IOException("the header is damaged: a length of " + length + " in a memory for " + capacity);
        }
        byte[] expected = Layout.digest(memory);
        byte[] actual = hash(length);
        output.say("committed", Size.exact(length) + " in " + description);
        output.say("SHA-256", Sha256.format(expected) + " (header)");
        output.say("SHA-256", Sha256.format(actual) + " (memory)");
        if (!Arrays.equals(expected, actual)) {
            throw new IOException("the file in the memory is not the one that the sender has committed");
        }
        output.say("the file is complete");
        return true;
    }

    private byte[] hash(long length) {
        try (Progress progress = output.progress("checking", length)) {
            return Sha256.of(memory, Layout.DATA, length, progress::update);
        }
    }
}
