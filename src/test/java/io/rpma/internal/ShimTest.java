// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.testing.Tool;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodType;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The shim's symbols. */
class ShimTest {
    /** The library runs on glibc 2.34 and later. */
    private static final int NEWEST_GLIBC_MINOR = 34;

    @TempDir
    private Path directory;

    private String shim;

    @BeforeEach
    void unpack() throws IOException {
        String resource = Loader.resource(System.getProperty("os.name"), System.getProperty("os.arch"));
        try (InputStream stream = Loader.class.getResourceAsStream(resource)) {
            shim = Files.write(directory.resolve("shim.so"), stream.readAllBytes())
                    .toString();
        }
    }

    private static List<String> find(String pattern, String text) {
        return Pattern.compile(pattern, Pattern.MULTILINE)
                .matcher(text)
                .results()
                .map((MatchResult result) -> result.group(1))
                .collect(Collectors.toList());
    }

    @Test
    void exportsOnlyWhatOthersUse() throws Exception {
        String symbols = Tool.run("nm", "--dynamic", "--defined-only", shim);
        List<String> exported = find("(?s)^EXPORTED [^(]*?(\\w+)\\(", Files.readString(Path.of("native/guard.c")));
        assertThat(exported).contains("rdma_create_qp_ex");
        exported.addAll(List.of("JNI_OnLoad", "JNI_OnUnload", "rpma_java_owner"));
        assertThat(find("^\\p{XDigit}+ [A-Za-z] (?!__odr_asan\\.)(\\S+)$", symbols))
                .containsExactlyInAnyOrderElementsOf(exported);
    }

    @Test
    void runsOnTheOldestSystem() throws Exception {
        assertRunsOnTheOldestSystem(shim);
    }

    @Test
    void runsOnTheOldestAarch64System() throws Exception {
        try (InputStream stream = Loader.class.getResourceAsStream(Loader.resource("Linux", "aarch64"))) {
            assumeTrue(stream != null, "the shim for aarch64 is built where the cross compiler is");
            Path other = Files.write(directory.resolve("aarch64.so"), stream.readAllBytes());
            assertThat(Tool.run("readelf", "--file-header", other.toString())).containsPattern("Machine: +AArch64");
            assertRunsOnTheOldestSystem(other.toString());
        }
    }

    private static void assertRunsOnTheOldestSystem(String library) throws Exception {
        String versions = Tool.run("readelf", "--version-info", "--wide", library);
        List<String> minors = find("Name: GLIBC_2\\.(\\d+)", versions);
        assertThat(minors).isNotEmpty();
        assertThat(minors)
                .allSatisfy(minor -> assertThat(Integer.parseInt(minor)).isLessThanOrEqualTo(NEWEST_GLIBC_MINOR));
        assertThat(find("(Name: GLIBC_[013-9]\\S*)", versions)).isEmpty();
    }

    @Test
    void isNeverUnloadedAndNeedsThreeLibraries() throws Exception {
        String dynamic = Tool.run("readelf", "--dynamic", "--wide", shim);
        assertThat(dynamic).containsPattern("Flags: .*NODELETE").contains("Library soname: [librpma-java.so]");
        assertThat(find("NEEDED.*\\[(lib(?:rpma|rdmacm|ibverbs)\\.so\\.\\d)]", dynamic))
                .containsExactlyInAnyOrder("librpma.so.0", "librdmacm.so.1", "libibverbs.so.1");
    }

    @Test
    void bindsAtOnce() throws Exception {
        assumeTrue(System.getenv("LD_PRELOAD") == null, "with a sanitizer the shim is linked in another way");
        assertThat(Tool.run("readelf", "--dynamic", "--wide", shim)).containsPattern("Flags: .*NOW");
    }

    /** Loading proves that each function has its method. This test proves that each method has its function. */
    @Test
    void hasAFunctionForEveryNative() throws Exception {
        Set<String> methods = Arrays.stream(Natives.class.getDeclaredMethods())
                .filter(method -> Modifier.isNative(method.getModifiers()))
                .map(method -> method.getName()
                        + MethodType.methodType(method.getReturnType(), method.getParameterTypes())
                                .toMethodDescriptorString())
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> functions = new TreeSet<>();
        try (Stream<Path> sources = Files.list(Path.of("native"))) {
            for (Path source :
                    sources.filter(path -> path.toString().endsWith(".c")).collect(Collectors.toList())) {
                Pattern.compile("\\{ \"(\\w+)\", \"([^\"]+)\",\\s+\\w+ }")
                        .matcher(Files.readString(source))
                        .results()
                        .forEach(result -> functions.add(result.group(1) + result.group(2)));
            }
        }
        assertThat(functions).isNotEmpty().isEqualTo(methods);
        assertThat(Loader.NATIVES).isEqualTo(methods.size());
    }
}
