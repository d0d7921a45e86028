// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import io.rpma.examples.common.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** The directory of the copies. No path leads out of it. */
final class CpDirectory {
    private static final int DIGEST_PART = 16;
    private static final Pattern PART = Pattern.compile("\\..*\\.[0-9a-f]{" + DIGEST_PART + "}\\.part", Pattern.DOTALL);

    private final Path root;

    /**
     * Uses a directory.
     *
     * @throws IOException if it does not exist
     */
    CpDirectory(Path directory) throws IOException {
        root = directory.toRealPath();
    }

    /**
     * Finds the path of a copy.
     *
     * @param text the path that the sender has sent
     * @throws IOException if the path leads out of this directory, or can't be the path of a file
     */
    Path resolve(String text) throws IOException {
        Path path;
        try {
            path = Path.of(text);
        } catch (InvalidPathException e) {
            throw new IOException("this is no path", e);
        }
        if (!CpMessage.printable(text).equals(text)) {
            throw new IOException("the path has a control character");
        }
        if (path.isAbsolute()) {
            throw new IOException("the path is outside of the directory: it must be relative");
        }
        for (Path element : path) {
            if (element.toString().equals("..")) {
                throw new IOException("the path is outside of the directory: it must not have '..'");
            }
        }
        Path target = root.resolve(path).normalize();
        if (target.equals(root)) {
            throw new IOException("this is a directory");
        }
        if (PART.matcher(target.getFileName().toString()).matches()) {
            throw new IOException("this is the name of an incomplete copy");
        }
        Path parent = target.getParent();
        if (!Files.isDirectory(parent)) {
            throw new IOException("there is no directory " + root.relativize(parent));
        }
        Path real = parent.toRealPath();
        if (!real.startsWith(root)) {
            throw new IOException("the path is outside of the directory: a symbolic link leads out of it");
        }
        target = real.resolve(target.getFileName());
        if (Files.isDirectory(target)) {
            throw new IOException("this is a directory");
        }
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)
                && !Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("there is something that is no regular file");
        }
        return target;
    }

    /** Returns the path of an incomplete copy. It depends on the contents, so that only the same contents continue it. */
    static Path part(Path target, byte[] digest) {
        return target.resolveSibling(
                "." + target.getFileName() + "." + Sha256.format(digest).substring(0, DIGEST_PART) + ".part");
    }
}
