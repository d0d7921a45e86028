// SPDX-License-Identifier: BSD-3-Clause
/** The command {@code rxe}: runs {@code native/rxe} from the jar. */
package io.rpma.tools.rxe;
