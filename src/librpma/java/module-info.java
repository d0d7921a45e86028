// SPDX-License-Identifier: BSD-3-Clause
/** librpma for machines without it. The module {@code io.rpma} loads it if the program has this module. */
module io.rpma.librpma {}
