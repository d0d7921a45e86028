# shellcheck shell=bash
# Boots a guest of an image and runs one command in it: what all kinds of guests have in common.
#
# Reads: bed, image (directory), row, checkout, cache, memory, time_limit, boot_limit, nvdimm, link, link_side.
# The command's output passes through unchanged: each of its standard streams has a fifo and a dd on this side; the kernel's
# console goes to a file. Status and settings go through a directory that host and guest share.

run_directory=
# The process that is the guest, and those that move its standard streams.
machine=
feeder=
notices=
stdout_pump=
stderr_pump=
terminal_state=

# A directory for one run: what the guest and this script exchange.
make_run_directory() {
    with_cache_locked make_locked_directory run
    run_directory=$made_directory
    at_exit+=(remove_run_directory)
}

remove_run_directory() {
    rm -rf "$run_directory"
}

# What goes into it for a guest.
fill_run_directory() {
    [[ -n $run_directory ]] || make_run_directory
    mkdir "$run_directory/share"
    cp "$softroce/guest-init" "$run_directory/share/init"
    mkfifo "$run_directory"/{stdout,stderr,never}
}

# "TAG=DIRECTORY" for every directory that the guest sees besides its root, under the same name as here.
# Tags that begin with "ro-" are read-only: what the guest writes there stays in it.
shares=()

share_directories() {
    local path
    shares=("checkout=$checkout" "${shares[@]}")
    path=$(local_repository)
    [[ ! -d $path ]] || shares+=("ro-repository=$path")
    path=$(guest_maven)
    [[ ! -d $path ]] || shares+=("ro-maven=$path")
}

# $@: the command. A file that bash reads back, so that every byte of every argument arrives.
write_settings() {
    local -a argv=("$@") guest_environment
    local directory=$checkout here device_address=10.0.0.${link_side:-1} terminal_size=
    # The checkout may have been entered through a link.
    here=$(pwd -P)
    if [[ $here == "$checkout" || $here == "$checkout"/* ]]; then
        directory=$here
    fi
    if [[ -t 0 && -t 1 ]]; then
        terminal_size=$(stty size)
    fi
    guest_environment=(
        "HOME=$HOME"
        "LANG=C.UTF-8"
        "TERM=${TERM:-dumb}"
        "JAVA_HOME=$row_java_home"
        "PATH=$row_java_home/bin:$(guest_maven)/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        "MAVEN_OPTS=-XX:+UseSerialGC -Xshare:auto"
        "RPMA_ADDRESS=$device_address"
        "RPMA_EXT4=/run/ext4"
        "RPMA_BED=$bed"
        "RPMA_IMAGE=$row"
    )
    [[ $bed == uml ]] || guest_environment+=("RPMA_PMEM=/dev/dax0.0")
    [[ -z $link ]] || guest_environment+=("RPMA_PEER=10.0.0.$((3 - link_side))")
    if [[ $bed == qemu ]]; then
        # Code that C1 compiles with profiling crashes under QEMU's emulation: seen in one of four long runs.
        guest_environment+=("JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1")
    fi
    declare -p bed argv directory shares device_address link guest_environment terminal_size |
        # In the guest they are global, also where bash would print a local's attributes.
        sed 's/^declare -- /declare /' >"$run_directory/share/settings"
}

check_memory() {
    local available
    available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
    ((available >= memory + 512)) ||
        die "the guest needs $((memory + 512)) MB of free memory and there are $available MB:" \
            "free some, or give the guest less with --memory MB"
}

# Moves bytes from the fifos that the guest writes to this script's streams. dd, because what it has written can be read in
# /proc/PID/io, which cat's splicing would not show.
start_pumps() {
    setpriv --pdeathsig KILL dd bs=64k status=none if="$run_directory/stdout" 2>/dev/null &
    stdout_pump=$!
    setpriv --pdeathsig KILL dd bs=64k status=none if="$run_directory/stderr" >&2 &
    stderr_pump=$!
}

kill_guest() {
    local -a processes=("$machine" ${feeder:+"$feeder"} "$stdout_pump" "$stderr_pump")
    kill -KILL "${processes[@]}" 2>/dev/null || true
    wait "${processes[@]}" 2>/dev/null || true
    await_machine_end
    [[ -z $terminal_state ]] || stty "$terminal_state" 2>/dev/null || true
}

# The guest's memory is free only then; its process may be one that bash does not wait for.
await_machine_end() {
    local tries
    for ((tries = 0; tries < 50; tries++)); do
        alive "$machine" || return 0
        sleep 0.1
    done
}

alive() {
    kill -0 "$1" 2>/dev/null
}

# A short sleep without a process: nobody ever writes to this fifo.
pause() {
    read -r -t 0.1 -u "$never" || true
}

# Why the guest ended or did not start, and the end of what it said. After a panic come registers, which tell nobody
# anything.
guest_failed() {
    say "$*; the end of its console:"
    {
        cat "$run_directory/machine.log"
        sed '/Kernel panic/q' "$run_directory/console" | tail -n 15
    } 2>/dev/null | tr -d '\r' | sed 's/^/  | /' >&2 || true
    exit 1
}

await_boot() {
    local deadline=$((SECONDS + boot_limit))
    until [[ -e $run_directory/share/ready ]]; do
        alive "$machine" || guest_failed "the guest ended before it was ready"
        ((SECONDS < deadline)) || guest_failed "the guest did not boot within $boot_limit s"
        check_time_limit
        pause
    done
}

await_status() {
    until [[ -e $run_directory/share/status ]]; do
        alive "$machine" || guest_failed "the guest ended without a status"
        check_reader
        check_time_limit
        pause
    done
}

# Where nobody reads one of its outputs any more the command ends, as it would with a pipe.
check_reader() {
    local pump status
    for pump in "$stdout_pump" "$stderr_pump"; do
        alive "$pump" && continue
        # Without an error it was the guest's end of the fifo that went away.
        wait "$pump" && guest_failed "the guest ended without a status" || status=$?
        ((status != 141)) || exit 141
        die "can't write the command's output: see whether the file system is full"
    done
}

check_time_limit() {
    if ((time_limit > 0 && SECONDS - guest_started >= time_limit)); then
        end_by_time_limit
    fi
}

# Waits until a pump has written as many bytes as the command has.
await_output() {
    local pump=$1 bytes=$2 written
    while alive "$pump"; do
        # The pump may end meanwhile.
        written=$(awk '$1 == "wchar:" { print $2 }' "/proc/$pump/io" 2>/dev/null) || return 0
        ((written < bytes)) || return 0
        check_time_limit
        pause
    done
}

# Runs the command in a guest and returns its exit status.
run_in_guest() {
    local never guest_started=$SECONDS status stdout_bytes stderr_bytes boot_time busy_time
    fill_run_directory
    share_directories
    write_settings "$@"
    case $bed in
    uml) start_uml ;;
    *) start_qemu ;;
    esac
    at_exit+=(kill_guest)
    start_pumps
    exec {never}<>"$run_directory/never"
    await_boot
    [[ $bed != uml ]] || start_feeder
    if [[ -t 0 && -t 1 ]]; then
        terminal_state=$(stty -g)
        stty raw -echo
    fi
    await_status
    read -r status stdout_bytes stderr_bytes boot_time busy_time <"$run_directory/share/status"
    await_output "$stdout_pump" "$stdout_bytes"
    await_output "$stderr_pump" "$stderr_bytes"
    [[ -z $times ]] || echo "$boot_time $busy_time" >"$times"
    return "$status"
}
