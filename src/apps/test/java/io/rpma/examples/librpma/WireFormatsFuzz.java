// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import com.google.protobuf.InvalidProtocolBufferException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeerCfg;
import io.rpma.examples.librpma.Gpspm.GPSPM_flush_request;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Reads the private data and the messages of librpma's examples from any bytes. */
public final class WireFormatsFuzz {
    private static final RpmaMemory MEMORY = RpmaMemory.allocate(4096);
    private static final int USER_DATA = 1024;

    static {
        // loads the classes of Protocol Buffers, before the fuzzer measures its time
        fuzzerTestOneInput(new byte[0]);
    }

    private WireFormatsFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        try {
            CommonData data = CommonData.fromBytes(bytes);
            try (RpmaMrRemote region = data.region(USER_DATA)) {
                if (data.dataOffset() < 0 || region.getSize() - data.dataOffset() < USER_DATA) {
                    throw new AssertionError(data);
                }
            }
            RpmaPeerCfg.fromDescriptor(data.pcfgDesc()).close();
        } catch (IllegalArgumentException | IllegalStateException e) {
            // refused, as documented
        }
        try {
            Example10SendWithImmServer.announced(bytes);
        } catch (IllegalStateException e) {
            // too short
        }
        Common.text(ByteBuffer.wrap(bytes));
        try {
            PingPong.value(ByteBuffer.wrap(bytes));
        } catch (IllegalStateException e) {
            // too short or too long
        }
        ByteBuffer log = ByteBuffer.wrap(Arrays.copyOf(bytes, Example07AtomicWriteServer.LOG_SIZE))
                .order(ByteOrder.LITTLE_ENDIAN);
        try {
            Example07AtomicWriteServer.words(log);
        } catch (IllegalStateException e) {
            // damaged
        }
        try {
            GPSPM_flush_request request = GPSPM_flush_request.parseFrom(bytes);
            MEMORY.persist(request.getOffset(), request.getLength());
            Example09FlushToPersistentGPSPMServer.response(request).toByteArray();
        } catch (InvalidProtocolBufferException | IndexOutOfBoundsException e) {
            // no request, or one for bytes that are not there
        }
    }
}
