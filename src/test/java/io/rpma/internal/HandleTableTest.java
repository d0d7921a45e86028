package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaPeerCfg;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The limit of the table of native objects. */
@Timeout(60)
class HandleTableTest {
    @BeforeAll
    static void load() {
        Loader.ensureLoaded();
    }

    private final long[] open = new long[Natives.handleLimit()];
    private int count;

    private long fill() {
        long made = Natives.peerCfgNew();
        while (made > 0) {
            open[count] = made;
            count++;
            made = Natives.peerCfgNew();
        }
        return made;
    }

    private void empty() {
        for (int i = 0; i < count; i++) {
            Natives.peerCfgDelete(open[i]);
        }
    }

    @Test
    void whatComesWhenItIsFullIsRefused() {
        int before = Natives.handleCount();
        try {
            assertThat(fill()).isEqualTo(RpmaError.NOMEM.code());
            assertThat(before + count).isEqualTo(1_048_575);
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(RpmaPeerCfg::create)
                    .withMessage(
                            "rpma_peer_cfg_new failed: Out of memory (NOMEM); 1048575 objects of the library are open, of"
                                    + " 1048575 at most: close what is not used any more; those that were dropped without close() are"
                                    + " in the log");
        } finally {
            empty();
        }
        assertThat(Natives.handleCount()).isEqualTo(before);
        RpmaPeerCfg.create().close();
    }
}
