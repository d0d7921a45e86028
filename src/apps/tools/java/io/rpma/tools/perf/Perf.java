// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import picocli.CommandLine.Command;

/** The two sides of the measurement of operations between two hosts. */
@Command(
        name = "perf",
        description = {
            "Measure the latency and the throughput of RDMA operations between two hosts. Start 'perf server' on the"
                    + " one host, and 'perf client' on the other.",
            ""
        },
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {PerfServer.class, PerfClient.class},
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:success", "1:failure", "2:wrong command line"})
public final class Perf {}
