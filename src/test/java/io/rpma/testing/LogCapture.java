// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;

/** Captures the records logged to "io.rpma", and keeps them off the console. */
public final class LogCapture extends Handler implements AutoCloseable {
    private static final Logger LOGGER = Logger.getLogger("io.rpma");

    private final List<LogRecord> records = new CopyOnWriteArrayList<>();
    private final Consumer<LogRecord> also;

    /** Starts to capture. */
    public LogCapture() {
        this(record -> {});
    }

    /** Starts to capture, and also passes each record to a function. */
    public LogCapture(Consumer<LogRecord> also) {
        this.also = also;
        LOGGER.setUseParentHandlers(false);
        LOGGER.setLevel(Level.ALL);
        LOGGER.addHandler(this);
    }

    @Override
    public void publish(LogRecord record) {
        records.add(record);
        also.accept(record);
    }

    /** The records that were logged so far. */
    public List<LogRecord> records() {
        return records;
    }

    /** The messages that were logged so far. */
    public List<String> messages() {
        return records.stream().map(LogRecord::getMessage).collect(Collectors.toList());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        LOGGER.removeHandler(this);
        LOGGER.setLevel(null);
        LOGGER.setUseParentHandlers(true);
    }
}
