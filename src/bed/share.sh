# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The directories of this host that a guest sees besides its own system, under the same names as on this host.
#
# Reads: checkout, image (directory), wanted_shares. Sets: directory, shares, links.

# The values of --share.
wanted_shares=()
# The kind of each directory that this run shares, by its path without symbolic links:
#   rw   the guest reads and writes the files
#   ro   the guest reads the files
#   cow  the guest reads the files, and its changes stay in the guest (copy on write)
declare -A share_kinds=()
# "KIND=DIRECTORY" for each directory that the guest mounts, parents first.
shares=()
# The symbolic links that the guest makes, because the user names a directory by them: their targets, indexed by name.
declare -A links=()
# The remedy if the guest can't share a directory, by the name of the directory or of its symbolic link.
declare -A remedies=()
# The working directory of the command, without symbolic links.
directory=

# Sets canonical to a path without symbolic links. A command substitution would remove newlines at the end of the path.
canonicalise() {
    IFS= read -r -d '' canonical < <(realpath -z -- "$1" 2>/dev/null)
}

# Refuses a directory that each guest has. $1: its name, $2: the remedy.
check_mount_point() {
    local own='^/((dev|proc|sys)(/.*)?|run(/(rxe|layers|ext4)(/.*)?)?|bin|boot|etc|lib|lib64|sbin|usr|var)?$'
    [[ ! $1 =~ $own || $1 == /dev/shm/?* ]] || refuse_mount_point "$1" "$2"
    remedies[$1]=$2
}

refuse_mount_point() {
    die "can't share $1, because the guest has its own: $2"
}

# Refuses each directory whose mount would hide a part of the guest's own system.
check_mount_points() {
    local name
    for name in "${!remedies[@]}"; do
        case $name in
        # The guest needs nothing of these directories.
        /root | /tmp | /dev/shm/*) continue ;;
        esac
        [[ -z $(ls -A "$image/root$name" 2>/dev/null) ]] || refuse_mount_point "$name" "${remedies[$name]}"
    done
}

# Shares a directory, also under the name by which the user knows it. $1: kind, $2: directory, $3: the remedy if the guest can't
# share it.
share() {
    local kind=$1 name canonical
    canonicalise "$2" && [[ -d $canonical && -r $canonical && -x $canonical ]] || die "can't read the directory '$2': $3"
    check_mount_point "$canonical" "$3"
    share_kinds[$canonical]=$kind
    IFS= read -r -d '' name < <(realpath -z -s -- "$2")
    # Without links, ".." can name another directory.
    if [[ $name != "$canonical" && $name -ef $canonical ]]; then
        check_mount_point "$name" "$3"
        links[$name]=$canonical
    fi
}

# Chooses the directories of this run. A later choice replaces an earlier one.
choose_shares() {
    local wanted canonical
    canonicalise . || die "the current directory does not exist: change to another directory"
    directory=$canonical
    wanted=$(local_repository)
    [[ ! -d $wanted ]] || share cow "$wanted" "set another local repository of Maven"
    ! is_checkout || share rw "$checkout" "move the checkout"
    share rw "$PWD" "change to another directory"
    for wanted in "${wanted_shares[@]}"; do
        if [[ $wanted == *:ro ]]; then
            share ro "${wanted%:ro}" "name another directory"
        else
            share rw "$wanted" "name another directory"
        fi
    done
    list_shares
}

# Lists the shared directories, without those that are part of another one of the same kind.
list_shares() {
    local path parent kind
    shares=()
    while IFS= read -r -d '' path; do
        parent=${path%/*} kind=${share_kinds[$path]}
        while [[ -n $parent && -z ${share_kinds[$parent]-} ]]; do
            parent=${parent%/*}
        done
        [[ -n $parent && ${share_kinds[$parent]} == "$kind" ]] || shares+=("$kind=$path")
    done < <(printf '%s\0' "${!share_kinds[@]}" | LC_ALL=C sort -z)
}

# Prints the directories that the guest sees, unless the user expects them: a command in the checkout sees the checkout.
say_shares() {
    local share seen=
    ! is_checkout || [[ ${#wanted_shares[@]} -gt 0 || $directory/ != "$checkout"/* ]] || return 0
    for share in "${shares[@]}"; do
        seen+=", $(printf %q "${share#*=}")"
        case $share in
        ro=*) seen+=" (read-only)" ;;
        cow=*) seen+=" (changes are lost)" ;;
        esac
    done
    say "the guest sees ${seen#, }"
}
