// SPDX-License-Identifier: BSD-3-Clause
/** An application on the module path. On the class path, this declaration has no effect. */
module org.example.application {
    requires io.rpma;
}
