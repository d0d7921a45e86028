# shellcheck shell=bash
# Messages, root rights, locks and cleaning up, for the other parts.

# One line to the user.
say() {
    printf 'rxe: %s\n' "$*" >&2
}

# One line that names the remedy, and a non-zero status.
die() {
    say "$*"
    exit 1
}

usage_error() {
    say "$* (see native/rxe --help)"
    exit 2
}

on_terminal() {
    [[ -t 2 ]]
}

# Runs a command as root; $1 says what for, for the line that appears where that is impossible.
as_root() {
    local purpose=$1
    shift
    if ((EUID == 0)); then
        "$@"
    else
        ask_for_root "$purpose"
        sudo "$@"
    fi
}

# Asks for sudo's password while a terminal is there to ask on; later sudo remembers it.
ask_for_root() {
    ((EUID != 0)) || return 0
    if command -v sudo >/dev/null; then
        sudo -n true 2>/dev/null && return
        [[ -t 2 ]] && sudo -v && return
    fi
    die "$1 needs root: run this as root, or as a user with sudo"
}

# What must happen at the end, however it comes: commands, last first.
at_exit=(end_job await_installation)

run_exit_actions() {
    local status=$? index
    trap '' INT TERM HUP QUIT
    for ((index = ${#at_exit[@]} - 1; index >= 0; index--)); do
        eval "${at_exit[index]}" || true
    done
    exit "$status"
}

install_traps() {
    trap run_exit_actions EXIT
    trap 'end_by_signal INT 130' INT
    trap 'end_by_signal TERM 143' TERM
    trap 'end_by_signal HUP 129' HUP
    trap 'end_by_signal QUIT 131' QUIT
}

end_by_signal() {
    # The terminal of a hangup may be gone, and that is no reason to stop here.
    trap '' PIPE
    say "ended by SIG$1" || true
    exit "$2"
}

# The job that supervise runs, while it runs: a process group of its own.
job=

# Runs a long command so that signals to this script end it with all its children, at once, and so that it dies with this
# script even if that is killed with SIGKILL.
supervise() {
    local status=0
    set -m
    setpriv --pdeathsig KILL "$@" <&0 &
    job=$!
    set +m
    # Without bash's line about a signal that ended it.
    wait "$job" 2>/dev/null || status=$?
    job=
    return "$status"
}

end_job() {
    [[ -n $job ]] || return 0
    kill -TERM -- "-$job" 2>/dev/null || return 0
    local tries
    for ((tries = 0; tries < 20; tries++)); do
        kill -0 -- "-$job" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL -- "-$job" 2>/dev/null || true
}

# Like supervise, with the time limit, whose status is 124.
limited() {
    local status=0
    if ((time_limit == 0)); then
        supervise "$@" || status=$?
    else
        supervise timeout --kill-after=5 "$time_limit" "$@" || status=$?
        ((status != 137)) || status=124
        ((status != 124)) || say_time_limit
    fi
    return "$status"
}

# Like limited, but the time limit ends this script too.
bounded() {
    local status=0
    limited "$@" || status=$?
    ((time_limit == 0 || status != 124)) || exit 124
    return "$status"
}

say_time_limit() {
    say "ended by the time limit of $time_limit s"
}

end_by_time_limit() {
    say_time_limit
    exit 124
}

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
