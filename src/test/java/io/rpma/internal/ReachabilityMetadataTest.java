// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compares the metadata for GraalVM's native-image with the look-ups in the sources: classes, members and resources
 * that are found by their names at run time.
 */
class ReachabilityMetadataTest {
    private static final String METADATA =
            "/META-INF/native-image/io.github.rpma-java/rpma-java/reachability-metadata.json";

    /** A type, with at most one method. */
    private static final Pattern ENTRY = Pattern.compile("\\s*\\{\\s*\"type\": \"(?<type>[\\w.]+)\""
            + "(,\\s*\"methods\": \\[\\{\"name\": \"(?<method>[\\w<>]+)\", \"parameterTypes\": \\[(?<parameters>[^]]*)]}])?"
            + "\\s*}\\s*(,|$)");

    /** Java's look-ups, C's look-ups and the resources. */
    private static final Pattern SECTIONS = Pattern.compile(
            "\\{\\s*\"reflection\": \\[(?<reflection>.*)],\\s*\"jni\": \\[(?<jni>.*)],\\s*"
                    + "\"resources\": \\[\\s*\\{\"glob\": \"(?<glob>[^\"]+)\"}\\s*]\\s*}\\s*",
            Pattern.DOTALL);

    /** The functions of JNI that find something by its name. */
    private static final Pattern LOOK_UP = Pattern.compile(
            "\\(\\*env\\)->(FindClass|Get(Static)?(Method|Field)ID|DefineClass|ThrowNew|FromReflected\\w+)\\(");

    private static final Pattern CLASS_LOOK_UP =
            Pattern.compile("jclass (?<variable>\\w+) = \\(\\*env\\)->FindClass\\(env, \"?(?<name>[\\w/]+)\"?\\)");

    private static final Pattern METHOD_LOOK_UP = Pattern.compile(
            "\\(\\*env\\)->Get(Static)?MethodID\\(env, (?<variable>\\w+), \"(?<name>[^\"]+)\", \"(?<signature>[^\"]+)\"\\)");

    private static Matcher metadata() throws IOException {
        try (InputStream stream = Loader.class.getResourceAsStream(METADATA)) {
            Matcher sections = SECTIONS.matcher(new String(stream.readAllBytes(), StandardCharsets.UTF_8));
            assertThat(sections.matches()).as("the sections of the metadata").isTrue();
            return sections;
        }
    }

    /** Returns the types of a section, with their methods. */
    private static Set<String> entries(String section) throws IOException {
        Set<String> entries = new TreeSet<>();
        String text = metadata().group(section);
        Matcher entry = ENTRY.matcher(text);
        int end = 0;
        while (entry.lookingAt()) {
            String method = entry.group("method");
            entries.add(entry.group("type")
                    + (method == null
                            ? ""
                            : " " + method + "("
                                    + entry.group("parameters")
                                            .replace("\"", "")
                                            .replace(" ", "") + ")"));
            end = entry.end();
            entry.region(end, text.length());
        }
        assertThat(end).as("the end of the entries").isEqualTo(text.length());
        return entries;
    }

    private static List<String> sources(String root, String ending) throws IOException {
        List<String> sources = new ArrayList<>();
        try (Stream<Path> paths = Files.walk(Path.of(root))) {
            for (Path path :
                    paths.filter(path -> path.toString().endsWith(ending)).collect(Collectors.toList())) {
                // a line can end anywhere in a call
                sources.add(Files.readString(path).replaceAll("\\s+", " "));
            }
        }
        return sources;
    }

    @Test
    void hasEachLookUpOfC() throws IOException {
        Set<String> lookUps = new TreeSet<>();
        long understood = 0;
        long all = 0;
        for (String source : sources("native", ".c")) {
            all += LOOK_UP.matcher(source).results().count();
            Map<String, String> classes = new TreeMap<>();
            Matcher type = CLASS_LOOK_UP.matcher(source);
            while (type.find()) {
                // the only name in a variable is the one that Loader passes
                String name = type.group("name");
                classes.put(
                        type.group("variable"), name.equals("text") ? Natives.class.getName() : name.replace('/', '.'));
                understood++;
            }
            Matcher method = METHOD_LOOK_UP.matcher(source);
            while (method.find()) {
                String parameters =
                        MethodType.fromMethodDescriptorString(method.group("signature"), null).parameterList().stream()
                                .map(Class::getName)
                                .collect(Collectors.joining(","));
                lookUps.add(
                        classes.remove(method.group("variable")) + " " + method.group("name") + "(" + parameters + ")");
                understood++;
            }
            lookUps.addAll(classes.values());
        }
        assertThat(understood).isEqualTo(all).isPositive();
        assertThat(entries("jni")).isEqualTo(lookUps);
    }

    @Test
    void hasEachLookUpOfJava() throws IOException {
        Set<String> lookUps = new TreeSet<>();
        int reflective = 0;
        for (String source : sources("src/main/java", ".java")) {
            Pattern.compile("String IMPLEMENTATION = \"([\\w.]+)\"")
                    .matcher(source)
                    .results()
                    .map((MatchResult implementation) -> implementation.group(1) + " <init>()")
                    .forEach(lookUps::add);
            Pattern.compile("findVirtual\\((\\w+)\\.class, \"(\\w+)\", MethodType\\.methodType\\(\\w+\\.class\\)\\)")
                    .matcher(source)
                    .results()
                    .map((MatchResult method) -> "java.lang." + method.group(1) + " " + method.group(2) + "()")
                    .forEach(lookUps::add);
            reflective += (int)
                    Pattern.compile("Class\\.forName|\\.find(Virtual|Static|Constructor|VarHandle)\\b|ServiceLoader"
                                    + "|\\.get(Declared)?(Method|Field|Constructor)s?\\(")
                            .matcher(source)
                            .results()
                            .count();
        }
        assertThat(lookUps).hasSize(3);
        assertThat(reflective)
                .as("forName and getDeclaredConstructor of Access, findVirtual of VirtualWaits")
                .isEqualTo(3);
        assertThat(entries("reflection")).isEqualTo(lookUps);
    }

    @Test
    void hasTheLibrariesOfEachPlatform() throws IOException {
        PathMatcher glob =
                FileSystems.getDefault().getPathMatcher("glob:" + metadata().group("glob"));
        for (String arch : List.of("amd64", "aarch64")) {
            Path resource = Path.of(Loader.resource("Linux", arch).substring(1));
            assertThat(glob.matches(resource)).as(resource.toString()).isTrue();
            assertThat(glob.matches(resource.resolveSibling("librpma.so.0"))).isTrue();
        }
    }
}
