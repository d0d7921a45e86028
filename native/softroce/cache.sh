# shellcheck shell=bash
# The cache: directories that are made once, by one script at a time, and stay as long as somebody uses them.
#
# Reads: cache.

# Runs a command while no other script makes or removes directories in the cache.
with_cache_locked() {
    local cache_lock
    exec {cache_lock}>"$cache/lock"
    flock "$cache_lock"
    "$@"
    exec {cache_lock}>&-
}

# Makes $cache/$1.XXXXXXXX and sets made_directory to it and made_lock to a lock that is held as long as this process
# lives: the next script removes directories that nobody holds.
make_locked_directory() {
    made_directory=$(mktemp -d "$cache/$1.XXXXXXXX") && exec {made_lock}>"$made_directory/lock" && flock -n "$made_lock" ||
        die "can't write in $cache: free some space, or set RPMA_CACHE to a directory that you can write"
}

# True for a directory that no living script holds. One without a lock is what an interrupted removal left.
is_unused() {
    [[ -d $1 ]] && { [[ ! -e $1/lock ]] || flock -n "$1/lock" true; }
}

# Directories whose makers are dead: half-built ones and the runs of killed scripts. With the cache locked.
remove_leftovers() {
    local directory
    for directory in "$cache"/{image,uml,run,maven,mount}.????????; do
        if is_unused "$directory"; then
            unlock_tree "$directory"
            remove_tree "$directory"
        fi
    done
}

# Directories of the same kind that other versions of these scripts made, once nobody has used them for a week: another
# checkout may still want them until then. With the cache locked. $1: the directory that stays; its name ends with a key.
remove_old_versions() {
    local kept=$1 used directory doomed
    while IFS= read -r used; do
        directory=${used%/lock}
        if [[ $directory != "$kept" ]] && is_unused "$directory"; then
            say "removing what was not used for a week: $directory"
            # Under a name that the next script would go on to remove.
            doomed=$(mktemp -du "$cache/image.XXXXXXXX")
            mv -T "$directory" "$doomed"
            remove_tree "$doomed"
        fi
    done < <(find "$cache" -mindepth 2 -maxdepth 2 -path "${kept%-*}-*/lock" -mtime +6)
}

# Holds a directory, so that it stays, if it has been made. With the cache locked.
hold_in_cache() {
    local directory=$1 held
    remove_leftovers
    remove_old_versions "$directory"
    [[ -d $directory ]] || return 0
    exec {held}<"$directory/lock"
    flock -s "$held"
    touch -c "$directory/lock" 2>/dev/null || true
}

# Has a directory made by a function if it is not there, and holds it. Two scripts that need it wait for each other.
# $1: directory, $2: name of the lock, $3: what it is, $4: the function.
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

# Makes a directory with a builder's script and gives it its name when that has succeeded.
# $1: directory, $2: kind of leftover, $3: what it is, $4...: the function that starts the builder, and its arguments; the
# name of the unfinished directory is added.
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

# Reads a builder's lines: each step, and on a terminal how far it is. $1: how many items there are in about.
show_progress() {
    local items=$1 kind text count=0 started=$SECONDS
    while read -r kind text; do
        case $kind in
        step)
            ! on_terminal || printf '\r\033[K' >&2
            say "$text ($((SECONDS - started)) s)"
            ;;
        item)
            count=$((count + 1))
            ! on_terminal || printf '\r\033[K  %3d%% %s, %d s' $((count * 100 / items)) "$text" \
                $((SECONDS - started)) >&2
            ;;
        # What bash says when a signal ends the builder.
        Terminated | Killed) ;;
        *) printf '  | %s %s\n' "$kind" "$text" >&2 ;;
        esac
    done
    ! on_terminal || printf '\r\033[K' >&2
}

# Runs a builder and shows its progress. $1: how many items there are in about; then the command.
build_with_progress() {
    local items=$1 output progress status=0
    shift
    exec {output}> >(show_progress "$items")
    progress=$!
    supervise "$@" 2>&"$output" </dev/null || status=$?
    exec {output}>&-
    wait "$progress"
    return "$status"
}

# A file system that a killed debootstrap left mounted in its root must not be walked into.
unlock_tree() {
    local mounted
    while read -r _ mounted _; do
        if [[ $mounted == "$1"/* ]]; then
            as_root "unmounting $mounted" umount -l "$mounted"
        fi
    done </proc/self/mounts
}

remove_tree() {
    rm -rf --one-file-system "$1" 2>/dev/null || as_root "removing $1" rm -rf --one-file-system "$1"
}

# Free space in MB where $1 will be.
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

# Removes what no run that is going on needs.
remove_cache() {
    local directory
    remove_leftovers
    if compgen -G "$cache/run.*" >/dev/null || compgen -G "$cache/image.*" >/dev/null || compgen -G "$cache/uml.*" >/dev/null
    then
        die "$cache is in use: end the other runs first"
    fi
    for directory in "$cache"/image-* "$cache"/uml-* "$cache"/apache-maven-*; do
        [[ ! -d $directory ]] || remove_tree "$directory"
    done
    rm -f "$cache"/lock-* "$cache"/processor-* "$cache/lock" "$cache/install.log"
    rmdir --ignore-fail-on-non-empty "$cache"
}
