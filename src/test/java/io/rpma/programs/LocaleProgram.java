// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrUsage;
import io.rpma.testing.Pair;
import io.rpma.testing.StandIn;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/** Makes calls fail whose messages have a text of the C library. */
public final class LocaleProgram {
    private static final int ENOMEM = 12;
    private static final int EFAULT = 14;
    private static final int EINVAL = 22;

    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private LocaleProgram() {}

    private interface Call {
        Object call() throws Exception;
    }

    /** Prints the errno and the messages of each failure, without the arguments of functions. */
    public static void main(String[] arguments) throws Exception {
        print(() -> RpmaDevice.local("127.0.0.1"));
        print(() -> RpmaMemory.map(Path.of("/proc/self/comm"), 1));
        try (StandIn standIn = StandIn.open();
                Pair pair = Pair.connect();
                RpmaMemory memory = RpmaMemory.allocate(1)) {
            standIn.fail("ibv_reg_mr", 1, EFAULT);
            print(() -> pair.peer.register(memory, RpmaMrUsage.WRITE_DST));
            standIn.fail("ibv_post_send", 1, EINVAL).fail("ibv_post_send", 1, ENOMEM);
            print(() -> pair.client.write(RpmaConn.F_COMPLETION_ALWAYS, 0));
            print(() -> pair.client.write(RpmaConn.F_COMPLETION_ALWAYS, 0));
        }
        for (String charset : arguments) {
            System.setProperty("native.encoding", charset);
            print(() -> RpmaDevice.local("fe80::1%none"));
        }
    }

    private static void print(Call call) throws Exception {
        try {
            OUT.println(call.call());
        } catch (RpmaException e) {
            OUT.println(e.errno() + " " + e.detail().replaceAll("\\(.*\\)", "()"));
        } catch (FileSystemException e) {
            OUT.println(e.getReason());
        }
    }
}
