package io.rpma.internal;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Unsigned;

/**
 * The events for JDK Flight Recorder.
 *
 * <p>No method allocates or reads a clock if no recording wants its event. A runtime that lacks the module {@code jdk.jfr}
 * loads none of the classes of the events.
 */
public final class FlightEvents {
    private static final boolean AVAILABLE =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private static final String CATEGORY = "RDMA";

    private FlightEvents() {}

    /** A region was registered. */
    @Name("io.rpma.Registration")
    @Label("Registration")
    @Description("A memory region was registered: its pages were pinned")
    @Category(CATEGORY)
    public static final class Registration extends Event {
        @Label("Region")
        String region;

        @Label("Size")
        @DataAmount
        long size;
    }

    /** A connection event was taken. */
    @Name("io.rpma.ConnectionEvent")
    @Label("Connection Event")
    @Description("The program took an event of a connection, for example ESTABLISHED, CLOSED or REJECTED")
    @Category(CATEGORY)
    static final class ConnectionEvent extends Event {
        @Label("Connection")
        String connection;

        @Label("Event")
        String event;
    }

    /** This side began a disconnection. */
    @Name("io.rpma.Disconnection")
    @Label("Disconnection")
    @Description("The program called disconnect()")
    @Category(CATEGORY)
    static final class Disconnection extends Event {
        @Label("Connection")
        String connection;
    }

    /** A thread waited. */
    @Name("io.rpma.Wait")
    @Label("Wait")
    @Description("A thread waited for completions, events or requests")
    @Category(CATEGORY)
    @Threshold("20 ms")
    static final class Wait extends Event {
        @Label("Operation")
        String operation;

        @Label("Object")
        String object;
    }

    /** A completion reports a failure. */
    @Name("io.rpma.ErrorCompletion")
    @Label("Error Completion")
    @Description("A completion of a failed operation was taken from its queue")
    @Category(CATEGORY)
    @StackTrace(false)
    static final class ErrorCompletion extends Event {
        static final ErrorCompletion TEMPLATE = new ErrorCompletion();

        @Label("Operation Context")
        long operationContext;

        @Label("Status")
        String status;

        @Label("Queue Pair Number")
        @Unsigned
        int queuePairNumber;

        @Label("Vendor Error")
        @Unsigned
        int vendorError;
    }

    /** {@return the event of a registration that begins now, or null if no recording wants it} */
    public static Registration registrationBegins() {
        if (!AVAILABLE) {
            return null;
        }
        Registration event = new Registration();
        event.begin();
        return event.isEnabled() ? event : null;
    }

    /**
     * Records a registration that has succeeded.
     *
     * @param event the result of {@link #registrationBegins}
     * @param region the region
     * @param size the size of the region in bytes
     */
    public static void registrationEnds(Registration event, NativeObject region, long size) {
        if (event != null) {
            event.region = region.toString();
            event.size = size;
            event.commit();
        }
    }

    /**
     * Records the event of a connection.
     *
     * @param connection the connection
     * @param taken the event
     */
    public static void connectionEvent(NativeObject connection, Object taken) {
        if (AVAILABLE) {
            ConnectionEvent event = new ConnectionEvent();
            if (event.isEnabled()) {
                event.connection = connection.toString();
                event.event = taken.toString();
                event.commit();
            }
        }
    }

    /**
     * Records a disconnection by this side.
     *
     * @param connection the connection
     */
    public static void disconnection(NativeObject connection) {
        if (AVAILABLE) {
            Disconnection event = new Disconnection();
            if (event.isEnabled()) {
                event.connection = connection.toString();
                event.commit();
            }
        }
    }

    /** Returns the event of a wait that begins now, or null if no recording wants it. */
    static Wait waitBegins() {
        if (!AVAILABLE) {
            return null;
        }
        Wait event = new Wait();
        event.begin();
        return event.isEnabled() ? event : null;
    }

    /** Records a wait, which may have failed, if it was long enough. */
    static void waitEnds(Wait event, String operation, NativeObject object) {
        if (event != null) {
            event.end();
            if (event.shouldCommit()) {
                event.operation = operation;
                event.object = object.toString();
                event.commit();
            }
        }
    }

    /** {@return whether a recording wants the failed completions} */
    public static boolean wantErrorCompletions() {
        return AVAILABLE && ErrorCompletion.TEMPLATE.isEnabled();
    }

    /**
     * Records a failed completion.
     *
     * @param operationContext the context of the operation
     * @param status the status
     * @param queuePairNumber the number of the queue pair
     * @param vendorError the device's own error code
     */
    public static void errorCompletion(long operationContext, Object status, int queuePairNumber, int vendorError) {
        ErrorCompletion event = new ErrorCompletion();
        event.operationContext = operationContext;
        event.status = status.toString();
        event.queuePairNumber = queuePairNumber;
        event.vendorError = vendorError;
        event.commit();
    }
}
