# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The cache: each directory is made once, by one script at a time, and stays as long as a script uses it.
#
# Reads: cache.

# Reads scripts and settings from the standard input, and prints a key for their result. Comment lines do not change the key. No
# script has a line of data that looks like a comment, except for options of the kernel that are not set.
cache_key() {
    sed -e '/^# CONFIG_/b' -e '/^[[:space:]]*#/d' | sha256sum | cut -c 1-12
}

# Runs a command while no other script makes or removes directories in the cache. If another script has removed the cache
# meanwhile, this script makes it again.
with_cache_locked() {
    local cache_lock
    while :; do
        mkdir -p "$cache"
        exec {cache_lock}>"$cache/lock"
        flock "$cache_lock"
        [[ ! $cache/lock -ef /proc/self/fd/$cache_lock ]] || break
        exec {cache_lock}>&-
    done
    "$@"
    exec {cache_lock}>&-
}

# Makes and locks the directory $cache/$1.XXXXXXXX. Sets made_directory to its path, and made_lock to its lock. This
# process holds the lock until the process ends. The next script removes each directory whose lock no process holds.
make_locked_directory() {
    made_directory=$(mktemp -d "$cache/$1.XXXXXXXX") && exec {made_lock}>"$made_directory/lock" && flock -n "$made_lock" ||
        die "can't write in $cache: free some space, or set RPMA_CACHE to a directory that you can write"
}

# True for a directory that no living script holds. A directory without a lock remains from an interrupted removal. The script that
# holds it can remove it meanwhile, with its lock.
is_unused() {
    [[ -d $1 ]] && { [[ ! -e $1/lock ]] || flock -n "$1/lock" true 2>/dev/null; }
}

# Removes the directories of dead scripts: unfinished builds and the runs of killed scripts. Needs the lock of the cache.
remove_leftovers() {
    local directory
    for directory in "$cache"/{image,uml,run,mount}.????????; do
        if is_unused "$directory"; then
            unlock_tree "$directory"
            remove_tree "$directory"
        fi
    done
}

# Removes the directories that other versions of these scripts made, if they are of the same kind and were not used for a week:
# another checkout may need a newer directory. Needs the lock of the cache.
# $1: the directory that stays; its name ends with a key.
remove_old_versions() {
    local kept=$1 used directory
    while IFS= read -r used; do
        directory=${used%/lock}
        if [[ $directory != "$kept" ]] && is_unused "$directory"; then
            say "removing $directory, which was not used for a week"
            remove_whole "$directory"
        fi
    done < <(find "$cache" -mindepth 2 -maxdepth 2 -path "${kept%-*}-????????????/lock" -mtime +6)
}

# Locks a directory, if it exists, so that no script removes it while this script runs. Needs the lock of the cache.
hold_in_cache() {
    local directory=$1 held
    remove_leftovers
    remove_old_versions "$directory"
    [[ -d $directory ]] || return 0
    exec {held}<"$directory/lock"
    flock -s "$held"
    touch -c "$directory/lock" 2>/dev/null || true
}

# Locks a directory as hold_in_cache does. If the directory does not exist, calls a function that makes it; other scripts that
# need the directory wait.
# $1: directory, $2: name of the lock, $3: description, $4: the function.
provide_in_cache() {
    local directory=$1 name=$2 what=$3 build=$4 lock
    with_cache_locked hold_in_cache "$directory"
    [[ ! -d $directory ]] || return 0
    exec {lock}>"$cache/lock-$name"
    if ! flock -n "$lock"; then
        say "waiting for another run that is making $what"
        supervise flock "$lock"
    fi
    [[ -d $directory ]] || "$build"
    exec {lock}>&-
    with_cache_locked hold_in_cache "$directory"
}

# Runs a builder script in a directory with a temporary name, and renames the directory if the script succeeds.
# $1: directory, $2: start of the temporary name, $3: description, $4...: the function that starts the builder, and its
# arguments; the temporary name is appended.
make_in_cache() {
    local directory=$1 kind=$2 what=$3 building started=$SECONDS
    shift 3
    with_cache_locked make_locked_directory "$kind"
    building=$made_directory
    at_exit+=("remove_tree $(printf %q "$building")")
    chmod 755 "$building"
    if ! "$@" "$building"; then
        say "can't make $what; the end of its log:"
        tail -n 15 "$building/build.log" 2>/dev/null | sed 's/^/  | /' >&2
        exit 1
    fi
    with_cache_locked mv -T "$building" "$directory"
    exec {made_lock}>&-
    say "$what is ready ($((SECONDS - started)) s, $(du -sm "$directory" | cut -f 1) MB in $directory)"
}

# Reads the lines of a builder: prints each step, and on a terminal the progress. $1: the approximate number of items.
relay_progress() {
    local items=$1 kind text line count=0 started=$SECONDS
    while read -r kind text; do
        case $kind in
        step) say "$text ($((SECONDS - started)) s)" ;;
        item)
            count=$((count + 1))
            printf -v line '  %3d%% %s, %d s' $((count * 100 / items)) "$text" $((SECONDS - started))
            show_progress "$line"
            ;;
        # bash's messages if a signal ends the builder.
        Terminated | Killed) ;;
        *) printf '  | %s %s\n' "$kind" "$text" >&2 ;;
        esac
    done
    end_progress
}

# Runs a builder and shows its progress. $1: the approximate number of items; then the command.
build_with_progress() {
    local items=$1 output progress status=0
    shift
    exec {output}> >(relay_progress "$items")
    progress=$!
    supervise "$@" 2>&"$output" </dev/null || status=$?
    exec {output}>&-
    wait "$progress"
    return "$status"
}

# Unmounts the file systems that a killed debootstrap left in a tree, so that a removal does not enter them.
unlock_tree() {
    local mounted
    while read -r _ mounted _; do
        if [[ $mounted == "$1"/* ]]; then
            as_root "unmounting $mounted" umount -l "$mounted"
        fi
    done </proc/self/mounts
}

# Removes a directory of the cache. Renames it first, so that no script takes the rest of an interrupted removal for the whole:
# the next script removes the rest.
remove_whole() {
    local doomed
    doomed=$(mktemp -du "$cache/image.XXXXXXXX")
    mv -T "$1" "$doomed"
    remove_tree "$doomed"
}

remove_tree() {
    rm -rf --one-file-system "$1" 2>/dev/null || as_root "removing $1" rm -rf --one-file-system "$1"
}

# Prints the free space in MB in the directory $1.
free_space() {
    df --output=avail -B1M "$1" | tail -n 1 | tr -d ' '
}

check_space() {
    local needed=$1 available
    available=$(free_space "$cache")
    ((available >= needed)) ||
        die "not enough disk space: $needed MB needed in $cache, $available MB free;" \
            "free some, or set RPMA_CACHE to a directory with more"
}

# Removes the contents of the cache, unless another run uses it.
remove_cache() {
    local directory
    remove_leftovers
    for directory in "$cache"/{image,uml}-* "$cache"/{image,uml,run,mount}.*; do
        [[ ! -d $directory ]] || is_unused "$directory" || die "$cache is in use: end the other runs first"
    done
    # Also the copies of this script that the jar of the tools has made.
    for directory in "$cache"/{image,uml,rxe}-*; do
        [[ ! -d $directory ]] || remove_whole "$directory"
    done
    rm -f "$cache"/lock-* "$cache"/processor-* "$cache/lock" "$cache/install.log"
    rmdir --ignore-fail-on-non-empty "$cache"
}
