// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SoakTest {
    private static final int WHITE = -1;

    @TempDir
    private Path directory;

    @Test
    void thePictureNamesTheMachine() throws Exception {
        List<String> lines = new ArrayList<>(List.of("# 2 x processor, Linux, JDK, 2026-11-25", "header"));
        for (int i = 1; i <= 125; i++) {
            lines.add(6 * i + "," + 800 * i + "," + 80_000 * i + ",145000,24,73,26,15");
        }
        Path samples = Files.write(directory.resolve("soak.csv"), lines);
        Path picture = directory.resolve("soak.png");
        // not with the options of the other JVMs: -Xcheck:jni reports the JDK's calls for fonts
        try (Jvm.Running drawing = Jvm.command(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Bench.class.getName(),
                "soak",
                samples.toString(),
                picture.toString())) {
            Jvm.Finished end = drawing.awaitEnd();
            assertThat(end.status()).as(end.toString()).isZero();
        }
        BufferedImage image = ImageIO.read(picture.toFile());
        assertThat(image.getWidth()).isEqualTo(Soak.COLUMNS * Soak.WIDTH);
        assertThat(image.getHeight()).isEqualTo(Soak.CAPTION_HEIGHT + Soak.ROWS * Soak.HEIGHT);
        int[] caption = image.getRGB(0, 0, image.getWidth(), Soak.CAPTION_HEIGHT, null, 0, image.getWidth());
        assertThat(Arrays.stream(caption).filter(pixel -> pixel != WHITE)).hasSizeGreaterThan(100);
    }
}
