// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.google.protobuf.InvalidProtocolBufferException;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.examples.librpma.Gpspm.GPSPM_flush_request;
import io.rpma.examples.librpma.Gpspm.GPSPM_flush_response;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes on the wire are the same as in librpma's examples. */
class WireFormatsTest {
    /** A region for reads, writes and flushes to visibility: address 0x7f0000001000, 1041 bytes, key 0x11223344. */
    private static final String MR_DESC = "00 10 00 00 00 7f 00 00  11 04 00 00 00 00 00 00  44 33 22 11  19";

    private static final String COMMON_DATA = "11 00  15  00  " + MR_DESC + "  00  00 00";
    private static final String COMMON_DATA_WITH_PCFG = "11 00  15  01  " + MR_DESC + "  01  00 00";

    private static final String REQUEST =
            "09 11 00 00 00 00 00 00 00  11 00 04 00 00 00 00 00 00  19 1d f0 00 00 00 00 00 00";
    private static final String RESPONSE = "09 1d f0 00 00 00 00 00 00";

    private static final String HELLO = "00 00 00 00  48 65 6c 6c 6f 20 77 6f 72 6c 64 21 00";
    private static final String HOLA = "01 00 00 00  c2 a1 48 6f 6c 61 20 4d 75 6e 64 6f 21 00";

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    /** Returns bytes filled up with zeroes, like received private data, whose length depends on the transport. */
    private static byte[] padded(String hex, int length) {
        return Arrays.copyOf(bytes(hex), length);
    }

    private static ByteBuffer littleEndian(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void commonDataIsWritten() {
        assertThat(new CommonData(17, bytes(MR_DESC), new byte[0]).toBytes())
                .hasSize(28)
                .isEqualTo(bytes(COMMON_DATA));
        assertThat(new CommonData(17, bytes(MR_DESC), bytes("01")).toBytes())
                .hasSize(28)
                .isEqualTo(bytes(COMMON_DATA_WITH_PCFG));
        assertThat(new CommonData(0xfedc, bytes(MR_DESC), new byte[0]).toBytes())
                .startsWith(0xdc, 0xfe, 21, 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {28, 56, 196})
    void commonDataIsParsed(int length) {
        CommonData data = CommonData.fromBytes(padded(COMMON_DATA, length));
        assertThat(data.dataOffset()).isEqualTo(17);
        assertThat(data.mrDesc()).isEqualTo(bytes(MR_DESC));
        assertThat(data.pcfgDesc()).isEmpty();
        CommonData withPcfg = CommonData.fromBytes(padded(COMMON_DATA_WITH_PCFG, length));
        assertThat(withPcfg.mrDesc()).isEqualTo(bytes(MR_DESC));
        assertThat(withPcfg.pcfgDesc()).containsExactly(1);
    }

    @Test
    void theRegionOfCommonData() {
        CommonData data = CommonData.fromBytes(bytes(COMMON_DATA));
        try (RpmaMrRemote region = data.region(1024)) {
            assertThat(region.getSize()).isEqualTo(1041);
            assertThat(region.getFlushType()).containsExactly(RpmaFlushType.VISIBILITY);
            assertThat(region.usages()).contains(RpmaMrUsage.READ_SRC, RpmaMrUsage.WRITE_DST);
        }
        assertThatIllegalStateException().isThrownBy(() -> data.region(1025)).withMessageContaining("1024 < 1025");
    }

    @Test
    void commonDataThatIsNone() {
        assertThatIllegalStateException()
                .isThrownBy(() -> CommonData.fromBytes(new byte[0]))
                .withMessageContaining("0 bytes");
        assertThatIllegalStateException()
                .isThrownBy(() -> CommonData.fromBytes(Arrays.copyOf(bytes(COMMON_DATA), 27)))
                .withMessageContaining("27 bytes");
        assertThatIllegalStateException()
                .isThrownBy(() -> CommonData.fromBytes(padded("00 00 15 04", 56)))
                .withMessageContaining("another program");
        assertThatIllegalStateException()
                .isThrownBy(() -> CommonData.fromBytes(padded("00 00 ff ff", 56)))
                .withMessageContaining("another program");
        // only zeroes: the private data of a side that has sent none
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CommonData.fromBytes(new byte[56]).region(0));
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> CommonData.fromBytes(padded("00 00 15 00", 56)).region(0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new CommonData(0x10000, bytes(MR_DESC), new byte[0]))
                .withMessageContaining("65536");
    }

    @Test
    void hello() {
        ByteBuffer hello = littleEndian(Hello.SIZE);
        Arrays.fill(hello.array(), (byte) 'x');
        Hello.init(hello);
        assertThat(hello.array()).hasSize(1028).isEqualTo(padded(HELLO, 1028));
        Hello.translate(hello);
        assertThat(hello.array()).isEqualTo(padded(HOLA, 1028));
        Hello.translate(hello);
        assertThat(hello.array()).isEqualTo(padded(HELLO, 1028));
    }

    /** The other side can write any number there. */
    @ParameterizedTest
    @CsvSource({"-1, 0", "-2, 1", "-3, 0", "2147483647, 0", "-2147483648, 1", "2147483646, 1", "7, 0"})
    void theNextLanguageOfAnyNumber(int language, int next) {
        ByteBuffer hello = littleEndian(Hello.SIZE).putInt(0, language);
        Hello.translate(hello);
        assertThat(hello.array()).isEqualTo(padded(next == 0 ? HELLO : HOLA, 1028));
    }

    @Test
    void greetings() {
        assertThat(Hello.greeting(ByteBuffer.wrap(padded(HELLO, 1028)))).isEqualTo("Hello world!");
        assertThat(Hello.greeting(ByteBuffer.wrap(padded(HOLA, 1028)))).isEqualTo("\u00a1Hola Mundo!");
        byte[] endless = new byte[1028];
        Arrays.fill(endless, (byte) 'x');
        assertThat(Hello.greeting(ByteBuffer.wrap(endless))).isEqualTo("x".repeat(1024));
    }

    @Test
    void theMessagesOfConnecting() {
        assertThat(Common.bytes("Hello client!")).isEqualTo(bytes("48 65 6c 6c 6f 20 63 6c 69 65 6e 74 21 00"));
        assertThat(Common.text(ByteBuffer.wrap(padded("48 65 6c 6c 6f 20 63 6c 69 65 6e 74 21 00", 196))))
                .isEqualTo("Hello client!");
    }

    @Test
    void theWordsOfALog() {
        ByteBuffer log = littleEndian(1040)
                .put(bytes("4c 4f 47 00 00 00 00 00  17 00 00 00 00 00 00 00  6f 6e 65 00 c2 a1 00  6e 6f"));
        assertThat(Example07AtomicWriteServer.words(log)).isEqualTo("one\n\u00a1\n");
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 15, 1041, 1L << 32, Long.MAX_VALUE})
    void aLogWithAWrongNumberOfBytes(long used) {
        ByteBuffer log = littleEndian(1040).putLong(8, used);
        assertThatIllegalStateException()
                .isThrownBy(() -> Example07AtomicWriteServer.words(log))
                .withMessage("the log is damaged: it has 16 to 1040 bytes, not " + used);
    }

    @Test
    void anEmptyAndAFullLog() {
        assertThat(Example07AtomicWriteServer.words(littleEndian(1040).putLong(8, 16)))
                .isEmpty();
        assertThat(Example07AtomicWriteServer.words(littleEndian(1040).putLong(8, 1040)))
                .hasSize(1024);
    }

    @Test
    void pingPong() {
        assertThat(PingPong.bytes(7)).isEqualTo(bytes("07 00 00 00 00 00 00 00"));
        assertThat(PingPong.bytes(0x0102030405060708L)).isEqualTo(bytes("08 07 06 05 04 03 02 01"));
        assertThat(PingPong.bytes(PingPong.I_M_DONE)).isEqualTo(bytes("ff ff ff ff ff ff ff ff"));
        assertThat(PingPong.value(ByteBuffer.wrap(bytes("08 07 06 05 04 03 02 01"))))
                .isEqualTo(0x0102030405060708L);
        assertThat(PingPong.value(ByteBuffer.wrap(bytes("ff ff ff ff ff ff ff ff"))))
                .isEqualTo(PingPong.I_M_DONE);
        assertThatIllegalStateException()
                .isThrownBy(() -> PingPong.value(ByteBuffer.allocate(7)))
                .withMessageContaining("7 bytes");
    }

    @Test
    void flushRequest() throws InvalidProtocolBufferException {
        assertThat(Example09FlushToPersistentGPSPMClient.request(17, 1024).toByteArray())
                .hasSize(27)
                .isEqualTo(bytes(REQUEST));
        GPSPM_flush_request request = GPSPM_flush_request.parseFrom(ByteBuffer.wrap(bytes(REQUEST)));
        assertThat(request.getOffset()).isEqualTo(17);
        assertThat(request.getLength()).isEqualTo(1024);
        assertThat(request.getOpContext()).isEqualTo(0xF01D);
    }

    @Test
    void flushResponse() throws InvalidProtocolBufferException {
        GPSPM_flush_request request = GPSPM_flush_request.parseFrom(bytes(REQUEST));
        assertThat(Example09FlushToPersistentGPSPMServer.response(request).toByteArray())
                .hasSize(9)
                .isEqualTo(bytes(RESPONSE));
        assertThat(GPSPM_flush_response.parseFrom(ByteBuffer.wrap(bytes(RESPONSE)))
                        .getOpContext())
                .isEqualTo(0xF01D);
    }

    @Test
    void flushMessagesThatAreNone() {
        assertThatExceptionOfType(InvalidProtocolBufferException.class)
                .isThrownBy(() -> GPSPM_flush_request.parseFrom(Arrays.copyOf(bytes(REQUEST), 26)));
        assertThatExceptionOfType(InvalidProtocolBufferException.class)
                .isThrownBy(() -> GPSPM_flush_request.parseFrom(bytes(RESPONSE)));
        assertThatExceptionOfType(InvalidProtocolBufferException.class)
                .isThrownBy(() -> GPSPM_flush_response.parseFrom(new byte[0]));
    }

    @Test
    void announcedImmediateData() {
        assertThat(Example10SendWithImmClient.announcement(1234)).isEqualTo(bytes("d2 04 00 00"));
        assertThat(Example10SendWithImmClient.announcement(-1)).isEqualTo(bytes("ff ff ff ff"));
        assertThat(Example10SendWithImmServer.announced(padded("d2 04 00 00", 56)))
                .isEqualTo(1234);
        assertThat(Example10SendWithImmServer.announced(bytes("fe ff ff ff"))).isEqualTo(-2);
        assertThatIllegalStateException().isThrownBy(() -> Example10SendWithImmServer.announced(new byte[3]));
    }

    /** The programs in C pick these names with glibc's rand(3). */
    @ParameterizedTest
    @CsvSource({"8, Chet", "9, Piotr", "11, Piotr", "12, Lukasz"})
    void names(long seed, String name) {
        assertThat(Example06MultipleConnectionsClient.name(seed)).isEqualTo(name);
        assertThat(Example06MultipleConnectionsClient.name(seed + 0xffffffffL)).isEqualTo(name);
        assertThat(Common.bytes(name)).hasSize(name.getBytes(StandardCharsets.US_ASCII).length + 1);
    }
}
