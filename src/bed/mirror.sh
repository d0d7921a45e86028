# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The mirror of Debian's packages.

# Prints the mirror of this host's package sources if they are Debian's, otherwise debootstrap's default.
debian_mirror() {
    local mirror=
    if command -v apt-get >/dev/null; then
        # shellcheck disable=SC2016 # apt's own variables
        mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
            awk '$1 == "Debian" && $2 == "Debian" && $3 == "main" { print $4; exit }')
    fi
    mirror=${mirror%/}
    if [[ $mirror == http://* || $mirror == https://* ]]; then
        echo "$mirror"
    else
        sed -n 's/^DEF_MIRROR="\(.*\)"$/\1/p' "$(command -v debootstrap)"
    fi
}
