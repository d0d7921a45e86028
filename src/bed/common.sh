# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Messages, root privileges, supervised commands and cleanup, for the other parts.
#
# Reads: program_name.

# The progress line that is the last line of the terminal, or nothing.
progress_shown=

# Prints one line for the user.
say() {
    end_progress
    printf 'rxe: %s\n' "$*" >&2
}

# Shows the progress in the last line of the terminal, instead of the former progress. Prints nothing if the error output is no
# terminal.
show_progress() {
    if on_terminal && [[ $progress_shown != "$1" ]]; then
        printf '\r\033[K%s' "$1" >&2
        progress_shown=$1
    fi
}

# Removes the progress line from the terminal.
end_progress() {
    [[ -z $progress_shown ]] || printf '\r\033[K' >&2
    progress_shown=
}

# Prints one line, which names the remedy, and ends the script with status 1.
die() {
    say "$*"
    exit 1
}

usage_error() {
    say "$* (see $program_name --help)"
    exit 2
}

on_terminal() {
    [[ -t 2 ]]
}

# Runs a command as root. $1: its purpose, for the message if root is not available.
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

# True if commands can run as root. Lets sudo ask for the password now, if there is a terminal; sudo then remembers it.
get_root() {
    ((EUID != 0)) || return 0
    command -v sudo >/dev/null || return
    sudo -n true 2>/dev/null || { [[ -t 2 ]] && sudo -v; }
}

ask_for_root() {
    get_root || die "$1 needs root: run this as root, or as a user with sudo"
}

# The commands that run when the script ends, however it ends. The last command runs first.
at_exit=(end_jobs await_installation)

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
    # After a hangup the terminal may be gone; a failed write must not prevent the cleanup.
    trap '' PIPE
    say "ended by SIG$1" || true
    exit "$2"
}

# The running jobs. Each is a process group, and has the process ID of its leader as its number.
declare -A running=()

# Starts a long command as a job. A signal to this script ends the job with all its children, at once. If this script is
# killed with SIGKILL, the command is killed too. Sets job to the number of the job.
start_job() {
    set -m
    setpriv --pdeathsig KILL "$@" <&0 &
    job=$!
    set +m
    running[$job]=$job
}

# Waits for a job and returns its status.
await_job() {
    local status=0
    # Suppresses bash's message about a signal that ended the job.
    wait "$1" 2>/dev/null || status=$?
    unset "running[$1]"
    return "$status"
}

supervise() {
    local job
    start_job "$@"
    await_job "$job"
}

end_jobs() {
    local job tries
    ((${#running[@]} > 0)) || return 0
    for job in "${running[@]}"; do
        kill -TERM -- "-$job" 2>/dev/null || unset "running[$job]"
    done
    for ((tries = 0; tries < 100; tries++)); do
        for job in "${running[@]}"; do
            kill -0 -- "-$job" 2>/dev/null || unset "running[$job]"
        done
        ((${#running[@]} > 0)) || return 0
        sleep 0.1
    done
    for job in "${running[@]}"; do
        kill -KILL -- "-$job" 2>/dev/null || true
    done
}

# Like supervise, with the time limit; status 124 if the limit ends the command.
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
