// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import io.rpma.support.EndpointOptions;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The address of a replica in the form of the command line: 10.0.0.1, host:7204, fe80::1, [fe80::1]:7204.
 *
 * @param address the address of the replica's RDMA device
 * @param port the port on which the replica listens
 */
record HostAddress(String address, int port) {
    /** Parses an address of the command line. */
    static final class Converter implements ITypeConverter<HostAddress> {
        private static final Pattern SYNTAX = Pattern.compile(
                "(?:\\[([^\\[\\]]+)\\]|([^:\\[\\]]+))(?::(\\d{1,5}))?|([^\\[\\]]*:[^\\[\\]]*:[^\\[\\]]*)");

        @Override
        public HostAddress convert(String text) {
            Matcher parts = SYNTAX.matcher(text);
            if (!parts.matches()) {
                throw new TypeConversionException("'" + text + "' is no address: write 10.0.0.1 or 10.0.0.1:7204");
            }
            int port = parts.group(3) == null ? EndpointOptions.DEFAULT_PORT : Integer.parseInt(parts.group(3));
            if (port < 1 || port > 65535) {
                throw new TypeConversionException("'" + text + "' has no port: it is 1 to 65535");
            }
            for (int group : new int[] {1, 2}) {
                if (parts.group(group) != null) {
                    return new HostAddress(parts.group(group), port);
                }
            }
            return new HostAddress(parts.group(4), port);
        }
    }
}
