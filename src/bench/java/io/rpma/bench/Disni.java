// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.LinkedList;
import java.util.List;

/**
 * DiSNI, another library for RDMA in Java. Its classes are a dependency of the benchmarks. Its native library must be built from
 * its sources: docs/benchmarks.md has the commands.
 */
public final class Disni {
    /** The options of a JVM that uses DiSNI. */
    public static final List<String> JVM_OPTIONS = List.of(
            "-Djava.library.path=" + Bench.OUTPUT.toAbsolutePath(),
            "--add-exports",
            "java.base/sun.nio.ch=ALL-UNNAMED");

    private Disni() {}

    /** Returns whether the native library is in {@link Bench#OUTPUT}. */
    public static boolean isThere() {
        return Files.exists(Bench.OUTPUT.resolve("libdisni.so"));
    }

    /** Makes a signalled operation. */
    public static IbvSendWR operation(int opcode, long address, int length, int lkey, long remoteAddress, int rkey) {
        IbvSge sge = new IbvSge();
        sge.setAddr(address);
        sge.setLength(length);
        sge.setLkey(lkey);
        IbvSendWR operation = new IbvSendWR();
        operation.setSg_list(new LinkedList<>(List.of(sge)));
        operation.setOpcode(opcode);
        operation.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        operation.getRdma().setRemote_addr(remoteAddress);
        operation.getRdma().setRkey(rkey);
        return operation;
    }

    /** Makes the completions that a poll fills. */
    public static IbvWC[] completions(int count) {
        IbvWC[] completions = new IbvWC[count];
        Arrays.setAll(completions, i -> new IbvWC());
        return completions;
    }
}
