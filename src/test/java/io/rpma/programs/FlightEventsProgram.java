// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.internal.Fake;
import io.rpma.internal.Resource;
import io.rpma.internal.Waiter;
import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

/** Makes calls that have events, with a librpma that does nothing. */
public final class FlightEventsProgram {
    /** Printed after calls without a recording. */
    public static final String WITHOUT = "calls without a recording";

    private static final long LONG = Duration.ofMillis(25).toNanos();

    private FlightEventsProgram() {}

    /**
     * Makes the calls before and during a recording, and prints the names of the events.
     *
     * @param arguments the path of that librpma, and the path for the recording
     */
    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        Resource awaited = Fake.unwatchable("Awaited");
        RpmaPeer peer = RpmaPeer.create(RpmaDevice.local("localhost"));
        RpmaMemory memory = RpmaMemory.allocate(4096);
        call(peer, memory, awaited);
        System.out.println(WITHOUT);
        Path file = Path.of(arguments[1]);
        try (Recording recording = new Recording()) {
            recording.start();
            call(peer, memory, awaited);
            call(peer, memory, awaited);
            recording.dump(file);
        }
        RecordingFile.readAllEvents(file).stream()
                .map(event -> event.getEventType().getName())
                .filter(name -> name.startsWith("io.rpma."))
                .forEach(System.out::println);
    }

    private static void call(RpmaPeer peer, RpmaMemory memory, Resource awaited) throws InterruptedException {
        peer.register(memory, RpmaMrUsage.WRITE_SRC).close();
        RpmaConn conn = RpmaConnReq.create(peer, "localhost", 7204, null).connect();
        conn.disconnect();
        conn.close();
        if (Waiter.await("wait", awaited, LONG)) {
            throw new AssertionError("ready");
        }
    }
}
