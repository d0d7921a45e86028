// SPDX-License-Identifier: BSD-3-Clause
module consumer {
    requires io.rpma;
}
