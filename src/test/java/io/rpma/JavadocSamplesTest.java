// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The samples in the Javadoc ({@code <pre>{@code ... }</pre>}), and the words about a close. */
class JavadocSamplesTest {
    private static final Path SOURCES = Path.of("src/main/java");

    /** The classes whose Javadoc must have a sample. */
    static final List<String> MAIN_CLASSES = List.of(
            "io/rpma/RpmaBatch",
            "io/rpma/RpmaCompletions",
            "io/rpma/RpmaConn",
            "io/rpma/RpmaConnCfg",
            "io/rpma/RpmaConnReq",
            "io/rpma/RpmaCq",
            "io/rpma/RpmaDevice",
            "io/rpma/RpmaEp",
            "io/rpma/RpmaEventLoop",
            "io/rpma/RpmaLog",
            "io/rpma/RpmaMemory",
            "io/rpma/RpmaMemoryPool",
            "io/rpma/RpmaMrLocal",
            "io/rpma/RpmaMrRemote",
            "io/rpma/RpmaPeer",
            "io/rpma/RpmaPeerCfg",
            "io/rpma/RpmaSrq",
            "io/rpma/RpmaSrqCfg",
            "io/rpma/rdmacm/RdmaAddrInfo",
            "io/rpma/rdmacm/RdmaAh",
            "io/rpma/rdmacm/RdmaBatch",
            "io/rpma/rdmacm/RdmaConnParam",
            "io/rpma/rdmacm/RdmaId",
            "io/rpma/rdmacm/RdmaInlineData",
            "io/rpma/rdmacm/RdmaMr",
            "io/rpma/rdmacm/RdmaPreparedBatch",
            "io/rpma/rdmacm/RdmaQp",
            "io/rpma/rdmacm/RdmaQpInitAttr",
            "io/rpma/rdmacm/RdmaSgeList",
            "io/rpma/rdmacm/RdmaSrq");

    private static final List<String> IMPORTS = List.of(
            "io.rpma.*",
            "io.rpma.rdmacm.*",
            "java.net.*",
            "java.nio.*",
            "java.nio.file.*",
            "java.util.*",
            "java.util.concurrent.*");

    /** The variables that a sample may use without declaring them. */
    private static final List<String> VARIABLES = List.of(
            "RpmaDevice device",
            "RpmaPeer peer",
            "RpmaMemory memory",
            "RpmaMrLocal local",
            "RpmaMrRemote remote",
            "RpmaEp ep",
            "RpmaConnReq request",
            "RpmaConn conn",
            "RpmaCq cq",
            "RpmaCompletions completions",
            "RpmaBatch batch",
            "RpmaSrq srq",
            "RpmaEventLoop loop",
            "Executor executor",
            "ByteBuffer descriptor",
            "String address",
            "int port",
            "RdmaId id",
            "RdmaQp qp",
            "RdmaMr mr",
            "long remoteAddr",
            "int rkey");

    /** The members that the sample of {@code RpmaEventLoop} uses. The text below the sample explains them. */
    private static final List<String> MEMBERS = List.of(
            "RpmaConnCfg cfg;",
            "Set<RpmaConn> conns;",
            "RpmaConn accept(RpmaConnReq request) { return request.connect(); }",
            "void end(RpmaConn conn) {}",
            "void failed(Object source, Throwable failure) {}",
            "void answer(RpmaConn conn, RpmaCompletions completions) {}");

    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*\\*.*?\\*/");
    private static final Pattern SAMPLE = Pattern.compile("(?ms)^ *\\* <pre>\\{@code$\\R(.*?)^ *\\* }</pre>$");
    private static final Pattern STAR = Pattern.compile("(?m)^ *\\* ?");

    /** The beginning of a sample that is a class or a method. All other samples are statements. */
    private static final Pattern MEMBER =
            Pattern.compile("\\A(?:public|protected|private|static|abstract|class|interface|enum|record)\\b");

    private static List<String> samples(Path source) throws IOException {
        String text = Files.readString(source);
        List<String> samples = COMMENT.matcher(text)
                .results()
                .flatMap(comment -> SAMPLE.matcher(comment.group()).results())
                .map(sample -> STAR.matcher(sample.group(1)).replaceAll(""))
                .collect(Collectors.toList());
        assertThat(text.split("<pre>\\{@code"))
                .as("all samples of " + source + " have their first and last lines for themselves")
                .hasSize(samples.size() + 1);
        return samples;
    }

    private static List<JavaFileObject> units() throws IOException {
        List<Path> sources;
        try (Stream<Path> files = Files.walk(SOURCES)) {
            sources = files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .collect(Collectors.toList());
        }
        List<JavaFileObject> units = new ArrayList<>();
        for (Path source : sources) {
            for (String sample : samples(source)) {
                units.add(unit(source.getFileName().toString().replaceAll("\\W", "_"), units.size(), sample));
            }
        }
        return units;
    }

    /** Returns a source file with the sample in a separate class, so that the sample can redeclare the variables. */
    private static JavaFileObject unit(String origin, int number, String sample) {
        String name = "Sample" + number + "_" + origin;
        String text = IMPORTS.stream().map(type -> "import " + type + ";\n").collect(Collectors.joining())
                + "class " + name + " {\n"
                + String.join("\n", MEMBERS)
                + "\nvoid sample(" + String.join(", ", VARIABLES) + ") throws Exception {\n"
                + "class Body extends " + name + " {\n"
                + (MEMBER.matcher(sample).find() ? sample : "void run() throws Exception {\n" + sample + "}\n")
                + "}\n}\n}\n";
        return new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }

    /** The errors of the compiler, each with its file. */
    private static List<String> errors(Path output, List<JavaFileObject> units) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        List<String> options =
                List.of("-proc:none", "-classpath", System.getProperty("java.class.path"), "-d", output.toString());
        compiler.getTask(null, null, diagnostics, options, null, units).call();
        return diagnostics.getDiagnostics().stream()
                .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
                .map(Object::toString)
                .collect(Collectors.toList());
    }

    @Test
    void everySampleCompiles(@TempDir Path output) throws IOException {
        List<JavaFileObject> units = units();
        assertThat(units).hasSizeGreaterThanOrEqualTo(MAIN_CLASSES.size());
        assertThat(errors(output, units)).isEmpty();
    }

    @ParameterizedTest
    @FieldSource("MAIN_CLASSES")
    void aMainClassHasASample(String mainClass) throws IOException {
        String source = Files.readString(SOURCES.resolve(mainClass + ".java"));
        Matcher declaration = Pattern.compile("(?m)^public ").matcher(source);
        assertThat(declaration.find()).isTrue();
        assertThat(SAMPLE.matcher(source.substring(0, declaration.start())).find())
                .as("the Javadoc of " + mainClass + " has a sample")
                .isTrue();
    }

    @Test
    void everyCloseSaysWhatItDoesIfThereWasAnother() throws IOException {
        int closeables = 0;
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path source : files.filter(Files::isRegularFile).toList()) {
                String text = Files.readString(source).replaceAll("\\s+(\\* )?", " ");
                if (text.contains(" implements AutoCloseable { ")) {
                    closeables++;
                    assertThat(text.contains(
                                    "Has no effect if it is already closed. Waits while another thread closes it."))
                            .as("the sentences in " + source)
                            .isTrue();
                }
            }
        }
        assertThat(closeables).isGreaterThan(16);
    }

    @Test
    void aSampleThatDoesNotCompileIsFound(@TempDir Path output) {
        assertThat(errors(output, List.of(unit("wrong", 0, "conn.write();\n"))))
                .singleElement()
                .asString()
                .contains("Sample0_wrong.java")
                .contains("write");
        assertThat(errors(output, List.of(unit("unknown", 0, "undeclared.close();\n"))))
                .singleElement()
                .asString()
                .contains("undeclared");
    }

    @Test
    void aSampleMayDeclareItsVariablesOrBeAMember(@TempDir Path output) {
        List<JavaFileObject> units = List.of(
                unit("declares", 0, "RpmaConn conn = request.connect();\n"),
                unit("method", 1, "static RpmaConn accept(RpmaEp ep) throws Exception { return null; }\n"),
                unit("type", 2, "class Server { RpmaEp ep; }\n"));
        assertThat(errors(output, units)).isEmpty();
    }
}
