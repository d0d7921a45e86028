// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.loop.CompletionSource;
import io.rpma.internal.loop.PeerProbe;
import io.rpma.internal.loop.Source;

/** The sources of items that an event loop takes from the objects of this package. */
final class LoopSources {
    private LoopSources() {}

    /** The requests of an endpoint. */
    static final class Requests extends Source<RpmaConnReq> {
        private final RpmaEp ep;
        private final RpmaConnCfg cfg;
        private final RpmaEventLoop.Handler<? super RpmaConnReq> handler;

        /** Whether the last take has found another thread that accepts or rejects a request. */
        private boolean busy;

        Requests(RpmaEp ep, RpmaConnCfg cfg, RpmaEventLoop.Handler<? super RpmaConnReq> handler) {
            super(ep, ep.object());
            this.ep = ep;
            this.cfg = cfg;
            this.handler = handler;
        }

        @Override
        public RpmaConnReq take() {
            busy = !ep.requests().tryLock();
            if (busy) {
                return null;
            }
            try {
                return ep.takeLocked(cfg).orElse(null);
            } finally {
                ep.requests().unlock();
            }
        }

        @Override
        public boolean isBusy() {
            return busy;
        }

        @Override
        public void call(RpmaConnReq request) throws Exception {
            handler.handle(request);
        }

        /**
         * A request that can't be taken, for example for lack of memory, must not lock out later requests. A closed
         * configuration ends the registration.
         */
        @Override
        public boolean survives(Throwable failure) {
            return failure instanceof RpmaException || failure instanceof Error;
        }

        /**
         * librpma drops a request if it fails after it has taken the event. Only its messages say which call has
         * failed, and there are none if the shim has no memory for them.
         */
        @Override
        public boolean leavesItem(Throwable failure) {
            if (failure instanceof RpmaException) {
                RpmaException e = (RpmaException) failure;
                return e.error() == RpmaError.PROVIDER
                        && (e.detail().isEmpty() || e.detail().contains("rdma_get_cm_event()"));
            }
            return failure instanceof OutOfMemoryError;
        }

        /** One client's failure must not lock out the others. */
        @Override
        public boolean survivesCall(RpmaConnReq request, Throwable failure) {
            try {
                request.giveUp();
            } catch (RpmaException e) {
                failure.addSuppressed(e);
            }
            return true;
        }
    }

    /** The events of a connection. */
    static final class Events extends Source<RpmaConnEvent> {
        private final RpmaConn conn;
        private final RpmaEventLoop.Handler<? super RpmaConnEvent> handler;

        Events(RpmaConn conn, RpmaEventLoop.Handler<? super RpmaConnEvent> handler) {
            super(conn, conn.object());
            this.conn = conn;
            this.handler = handler;
        }

        @Override
        public RpmaConnEvent take() {
            return conn.events().take();
        }

        @Override
        public boolean isBusy() {
            return conn.events().isBusy();
        }

        @Override
        public void claim(Object loop) {
            conn.events().claim(loop);
        }

        @Override
        public void release() {
            conn.events().release();
        }

        @Override
        public void call(RpmaConnEvent event) throws Exception {
            handler.handle(event);
        }

        /** An event that librpma does not know has been taken from the queue, so the registration continues. */
        @Override
        public boolean survives(Throwable failure) {
            return failure instanceof RpmaException && ((RpmaException) failure).error() == RpmaError.UNKNOWN;
        }
    }

    /** The events of a device. */
    static final class DeviceEvents extends Source<RpmaDeviceEvent> {
        private final RpmaDevice device;
        private final RpmaEventLoop.Handler<? super RpmaDeviceEvent> handler;

        DeviceEvents(RpmaDevice device, RpmaEventLoop.Handler<? super RpmaDeviceEvent> handler) {
            super(device, device.events());
            this.device = device;
            this.handler = handler;
        }

        @Override
        public RpmaDeviceEvent take() {
            return device.takeEvent();
        }

        @Override
        public void call(RpmaDeviceEvent event) throws Exception {
            handler.handle(event);
        }
    }

    /** The completions of a channel. */
    static final class Completions extends CompletionSource<RpmaCq> {
        /** Null for the queue of a shared receive queue. */
        private final RpmaConn conn;

        private final RpmaCompletionWait channel;
        private final RpmaCompletions completions;
        private final RpmaEventLoop.CompletionHandler handler;

        Completions(
                Object source,
                RpmaCompletionWait channel,
                RpmaCompletions completions,
                RpmaEventLoop.CompletionHandler handler) {
            super(source, channel.channel());
            conn = source instanceof RpmaConn ? (RpmaConn) source : null;
            this.channel = channel;
            this.completions = completions;
            this.handler = handler;
        }

        @Override
        public void claim(Object loop) {
            channel.claim(loop);
        }

        @Override
        protected RpmaCq takeNext() {
            return channel.pollOrArm(completions, false);
        }

        @Override
        protected PeerProbe probe() {
            PeerProbe probe = conn == null ? null : conn.attachedProbe();
            // the queue of the receives can have a registration of its own
            return probe != null && probe.queue() == descriptor() ? probe : null;
        }

        @Override
        protected boolean removeProbe(RpmaCq from, PeerProbe probe) {
            return from != conn.getCq() || completions.removeProbe(probe);
        }

        @Override
        public void call(RpmaCq from) throws Exception {
            handler.handle(from, completions);
        }
    }
}
