// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.net.InetSocketAddress;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Supplier;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Unsigned;

/**
 * The events for JDK Flight Recorder.
 *
 * <p>The class of an event is loaded only if the process has begun a recording: the load initializes Flight Recorder
 * and method handles. No method throws an exception, because an operation that has succeeded must not fail afterwards.
 */
public final class FlightEvents {
    private static final String CATEGORY = "RDMA";

    private static final boolean AVAILABLE = isAvailable();

    /** Whether an event could not be recorded, for another reason than a lack of memory. */
    private static volatile boolean broken;

    private FlightEvents() {}

    /** Returns whether the runtime has the module jdk.jfr, and the class loader of the library finds it. */
    private static boolean isAvailable() {
        try {
            FlightRecorder.isInitialized();
            return true;
        } catch (LinkageError e) {
            return false;
        }
    }

    /** A region was registered. */
    @Name("io.rpma.Registration")
    @Label("Registration")
    @Description("A memory region was registered")
    @Category(CATEGORY)
    public static final class Registration extends Event {
        @Label("Region")
        String region;

        @Label("Size")
        @DataAmount
        long size;
    }

    /** This side began a connection. */
    @Name("io.rpma.Connection")
    @Label("Connection")
    @Description("The program connected, or accepted a request: a Connection Event reports the result")
    @Category(CATEGORY)
    static final class Connection extends Event {
        @Label("Connection")
        String connection;

        @Label("Incoming")
        boolean incoming;

        @Label("Address")
        String address;

        @Label("Port")
        int port;
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

    /** {@return whether the process has begun a recording} */
    public static boolean isRecording() {
        return AVAILABLE && FlightRecorder.isInitialized() && !broken;
    }

    private static void lost(Throwable failure) {
        if (failure instanceof VirtualMachineError) {
            // no memory or no stack: only this event is lost
            return;
        }
        broken = true;
        try {
            Log.logger().log(System.Logger.Level.WARNING, "Flight Recorder gets no more events of RDMA", failure);
        } catch (Throwable e) {
            return;
        }
    }

    /** {@return the event of a registration that begins now, or null if no recording wants it} */
    public static Registration registrationBegins() {
        if (isRecording()) {
            try {
                Registration event = new Registration();
                event.begin();
                return event.isEnabled() ? event : null;
            } catch (Throwable e) {
                lost(e);
            }
        }
        return null;
    }

    /**
     * Records a registration that has succeeded.
     *
     * @param event the result of {@link #registrationBegins}
     * @param region the region
     * @param size the size of the region in bytes
     */
    public static void registrationEnds(Registration event, Resource region, long size) {
        if (event != null) {
            try {
                event.region = region.toString();
                event.size = size;
                event.commit();
            } catch (Throwable e) {
                lost(e);
            }
        }
    }

    /**
     * Records that this side connects, or has accepted a request.
     *
     * @param connection the connection
     * @param incoming whether it is an accepted request
     * @param address the address of the other side, or null if it is unknown
     * @param port the port of the other side, or 0 if it is unknown
     */
    public static void connection(Resource connection, boolean incoming, String address, int port) {
        if (isRecording()) {
            try {
                Connection event = new Connection();
                if (event.isEnabled()) {
                    event.connection = connection.toString();
                    event.incoming = incoming;
                    event.address = address;
                    event.port = port;
                    event.commit();
                }
            } catch (Throwable e) {
                lost(e);
            }
        }
    }

    /**
     * Records that an id connects, or has accepted a request.
     *
     * @param id the id
     * @param incoming whether it is an accepted request
     * @param otherSide returns the address of the other side, or nothing if the id has none
     */
    public static void connection(Resource id, boolean incoming, Supplier<Optional<InetSocketAddress>> otherSide) {
        if (isRecording()) {
            try {
                InetSocketAddress other = otherSide.get().orElseThrow();
                connection(id, incoming, other.getAddress().getHostAddress(), other.getPort());
            } catch (IllegalStateException | NoSuchElementException e) {
                // another thread has closed the id, or the id has no address
                connection(id, incoming, null, 0);
            } catch (Throwable e) {
                lost(e);
            }
        }
    }

    /**
     * Records the event of a connection.
     *
     * @param connection the connection
     * @param taken the event
     */
    public static void connectionEvent(Resource connection, Object taken) {
        if (isRecording()) {
            try {
                ConnectionEvent event = new ConnectionEvent();
                if (event.isEnabled()) {
                    event.connection = connection.toString();
                    event.event = taken.toString();
                    event.commit();
                }
            } catch (Throwable e) {
                lost(e);
            }
        }
    }

    /**
     * Records a disconnection by this side.
     *
     * @param connection the connection
     */
    public static void disconnection(Resource connection) {
        if (isRecording()) {
            try {
                Disconnection event = new Disconnection();
                if (event.isEnabled()) {
                    event.connection = connection.toString();
                    event.commit();
                }
            } catch (Throwable e) {
                lost(e);
            }
        }
    }

    /** Returns the event of a wait that begins now, or null if no recording wants it. */
    static Wait waitBegins() {
        if (isRecording()) {
            try {
                Wait event = new Wait();
                event.begin();
                return event.isEnabled() ? event : null;
            } catch (Throwable e) {
                lost(e);
            }
        }
        return null;
    }

    /** Records a wait, which may have failed, if it was long enough. */
    static void waitEnds(Wait event, String operation, Resource object) {
        if (event != null) {
            try {
                event.end();
                if (event.shouldCommit()) {
                    event.operation = operation;
                    event.object = object.toString();
                    event.commit();
                }
            } catch (Throwable e) {
                lost(e);
            }
        }
    }

    /**
     * Records the completion of a failed operation.
     *
     * @param operationContext the context of the operation
     * @param status the status of the completion
     * @param queuePairNumber the number of the queue pair
     * @param vendorError the error of the device's vendor
     */
    public static void errorCompletion(long operationContext, Object status, int queuePairNumber, int vendorError) {
        try {
            if (ErrorCompletion.TEMPLATE.isEnabled()) {
                ErrorCompletion event = new ErrorCompletion();
                event.operationContext = operationContext;
                event.status = status.toString();
                event.queuePairNumber = queuePairNumber;
                event.vendorError = vendorError;
                event.commit();
            }
        } catch (Throwable e) {
            lost(e);
        }
    }
}
