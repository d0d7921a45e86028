// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

/**
 * The stack of the current thread. A sequence of steps that must not end in the middle first makes sure that there is
 * room: a {@link StackOverflowError} then comes before the first step, and the sequence can be repeated.
 */
public final class Stack {
    /** Frames of the smallest size, as the compilers make them: more than the steps have, interpreted. */
    private static final int FRAMES = 600;

    private Stack() {}

    /** Throws {@link StackOverflowError} if the current thread has no room for such a sequence. */
    public static void reserve() {
        descend(FRAMES);
    }

    private static int descend(int frames) {
        return frames == 0 ? 0 : 1 + descend(frames - 1);
    }
}
