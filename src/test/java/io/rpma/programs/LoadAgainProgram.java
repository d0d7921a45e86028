// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaBatch;
import io.rpma.RpmaCompletions;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaDevice;
import io.rpma.RpmaError;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeerCfg;
import io.rpma.RpmaSrqCfg;
import io.rpma.RpmaWcStatus;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** Makes every call that may be a program's first, while the library can't be unpacked and again when it can. */
public final class LoadAgainProgram {
    private interface Use {
        void use() throws Exception;
    }

    private LoadAgainProgram() {}

    /** Prints the outcome of each use. Arguments: the directory that is missing at first, and a file to map. */
    public static void main(String[] arguments) throws Exception {
        Path file = Files.write(Path.of(arguments[1]), new byte[4096]);
        Map<String, Use> uses = new LinkedHashMap<>();
        uses.put("device", () -> RpmaDevice.local("192.0.2.1"));
        uses.put("memory", () -> RpmaMemory.allocate(1).close());
        uses.put("huge memory", () -> RpmaMemory.allocateHuge(1, 3));
        uses.put("file", () -> RpmaMemory.map(file).close());
        uses.put("file to read", () -> RpmaMemory.mapReadOnly(file).close());
        uses.put("conn cfg", () -> RpmaConnCfg.create().close());
        uses.put("peer cfg", () -> RpmaPeerCfg.create().close());
        uses.put("srq cfg", () -> RpmaSrqCfg.create().close());
        uses.put(
                "remote region", () -> RpmaMrRemote.fromDescriptor(descriptor()).close());
        uses.put("batch", () -> RpmaBatch.create(1));
        uses.put("error", RpmaError.NOMEM::message);
        uses.put("status", RpmaWcStatus.SUCCESS::description);
        uses.put("event", RpmaConnEvent.CLOSED::description);
        uses.put("completions", () -> RpmaCompletions.create(1));
        uses.put("log function", () -> RpmaLog.setFunction(null));
        uses.put("log threshold", () -> RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.ERROR));
        uses.put("log", () -> RpmaLog.getThreshold(RpmaLogThreshold.MAIN));
        uses.put(
                "address",
                () -> RdmaAddrInfo.passive(null, 0, RdmaPortSpace.TCP).close());
        uses.put("id", () -> RdmaId.create(RdmaPortSpace.TCP).close());
        uses.forEach(LoadAgainProgram::print);
        Path directory = Files.createDirectory(Path.of(arguments[0]));
        Files.writeString(directory.resolve("not empty"), "");
        System.setProperty("io.rpma.library", directory.resolve("missing").toString());
        print("once more", uses.get("device"));
        System.clearProperty("io.rpma.library");
        uses.forEach(LoadAgainProgram::print);
    }

    private static byte[] descriptor() {
        byte[] descriptor = new byte[RpmaMrLocal.DESCRIPTOR_SIZE];
        Arrays.fill(descriptor, (byte) 1);
        return descriptor;
    }

    private static void print(String name, Use use) {
        try {
            use.use();
            System.out.println(name + ": done");
        } catch (Throwable e) {
            System.out.println(name + ": " + e);
        }
    }
}
