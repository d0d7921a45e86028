# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Boots a guest of an image and runs one command in it: the common part of all kinds of guests.
#
# Reads: bed, image (directory), row, directory, shares, share_kinds, links, cache, memory, cpus, time_limit, boot_limit, nvdimm, type, link,
# link_side.
# The command's output passes through unchanged: standard output and error each have a fifo and a dd on this host. The
# kernel's console goes to a file. Status and settings go through a directory that host and guest share.

run_directory=
# The process of the guest, and the processes that move its standard streams.
machine=
feeder=
notices=
stdout_pump=
stderr_pump=
terminal_state=

# Makes the directory of one run, in which the guest and this script exchange files.
make_run_directory() {
    with_cache_locked make_locked_directory run
    run_directory=$made_directory
    at_exit+=(remove_run_directory)
}

remove_run_directory() {
    rm -rf "$run_directory"
}

# Fills the directory of the run for a guest.
fill_run_directory() {
    [[ -n $run_directory ]] || make_run_directory
    mkdir "$run_directory/share"
    cp "$scripts/guest-init" "$run_directory/share/init"
    mkfifo "$run_directory"/{stdout,stderr,never}
}

# Writes the settings and the command ($@) to a file that the guest's bash reads, so that each byte of each argument arrives.
write_settings() {
    local -a argv=("$@") guest_environment
    local device_address=10.0.0.${link_side:-1} terminal_size=
    if [[ -t 0 && -t 1 ]]; then
        terminal_size=$(stty size)
    fi
    guest_environment=(
        "HOME=$HOME"
        "LANG=C.UTF-8"
        "TERM=${TERM:-dumb}"
        "JAVA_HOME=$row_java_home"
        "PATH=$row_java_home/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        "RPMA_ADDRESS=$device_address"
        "RPMA_EXT4=/run/ext4"
        "RPMA_BED=$bed"
        "RPMA_IMAGE=$row"
    )
    [[ $bed == uml ]] || guest_environment+=("RPMA_PMEM=/dev/dax0.0")
    [[ -z $link ]] || guest_environment+=("RPMA_PEER=10.0.0.$((3 - link_side))")
    declare -p HOME bed argv directory shares links device_address link type row_java_home guest_environment terminal_size |
        # Some of these variables are local here, and all are global in the guest. Removes the "--", which means: no attributes.
        sed 's/^declare -- /declare /' >"$run_directory/share/settings"
}

check_memory() {
    local available
    available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
    ((available >= memory + 512)) ||
        die "the guest needs $((memory + 512)) MB of free memory and there are $available MB:" \
            "free some, or give the guest less with --memory MB"
}

# Moves the bytes from the fifos of the guest to the streams of this script, from the end of the boot on: until then the terminal
# shows the progress. Uses dd, because /proc/PID/io has the number of bytes that dd has written; it does not count the bytes that
# cat splices.
start_pumps() {
    setpriv --pdeathsig KILL dd bs=64k status=none if="$run_directory/stdout" 2>/dev/null &
    stdout_pump=$!
    setpriv --pdeathsig KILL dd bs=64k status=none if="$run_directory/stderr" >&2 &
    stderr_pump=$!
}

kill_guest() {
    local -a processes=("$machine" ${feeder:+"$feeder"} ${stdout_pump:+"$stdout_pump" "$stderr_pump"})
    kill -KILL "${processes[@]}" 2>/dev/null || true
    wait "${processes[@]}" 2>/dev/null || true
    await_machine_end
    [[ -z $terminal_state ]] || stty "$terminal_state" 2>/dev/null || true
}

# Waits for the end of the guest's process, which frees the guest's memory. bash's wait ignores a disowned process.
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

# Sleeps for a moment without starting a process: waits for input from the fifo "never", to which nothing writes.
pause() {
    read -r -t 0.1 -u "$never" || true
}

# Prints why the guest ended or did not start, and the end of its console, without the registers after a panic.
guest_failed() {
    say "$*; the end of its console:"
    {
        cat "$run_directory/machine.log"
        sed '/Kernel panic/q' "$run_directory/console" | tail -n 15
    } 2>/dev/null | tr -d '\r' | sed 's/^/  | /' >&2 || true
    [[ $bed != qemu ]] || say_emulator_crash
    exit 1
}

# Says that the emulator has crashed the guest's kernel, if it has; also in the file that "test" names for the parts of a run.
say_emulator_crash() {
    local sign
    sign=$(impossible_kernel_state "$run_directory/console") || return 0
    say "the emulator has crashed the guest's kernel, because $sign"
    [[ -z ${RPMA_CRASHES-} ]] || echo "$sign" >>"$RPMA_CRASHES"
}

await_boot() {
    local begun=$SECONDS deadline=$((SECONDS + boot_limit))
    until [[ -e $run_directory/share/ready ]]; do
        alive "$machine" || guest_failed "the guest ended before it was ready"
        ((SECONDS < deadline)) || guest_failed "the guest did not boot within $boot_limit s"
        check_time_limit
        show_progress "rxe: booting the $row guest ... $((SECONDS - begun)) s"
        pause
    done
    end_progress
}

# Ends this script if the guest has shown no sign of life for two minutes: its kernel does nothing any more, and the command would
# never end. Counts pauses, because this script may have been stopped with the guest. Reads and sets pauses, life and silent.
check_alive() {
    local sign
    ((++pauses % 100 == 0)) || return 0
    [[ $bed != uml ]] || check_mappings
    sign=$(stat -c %y "$run_directory/share/alive" 2>/dev/null) || sign=
    if [[ $sign != "$life" ]]; then
        life=$sign silent=0
    elif ((++silent == 12)); then
        guest_failed "the guest does nothing any more ($(machine_state))"
    fi
}

# Prints the state of the guest's process, its place in the kernel of this host, and its use of the processor in a second.
machine_state() {
    local before
    before=$(machine_ticks)
    sleep 1
    echo "state $(sed -n 's/^State:[[:space:]]*//p' "/proc/$machine/status"), in $(<"/proc/$machine/wchan")," \
        "$(($(machine_ticks) - before)) % of a processor"
}

# Prints the processor time of the guest's process in ticks, of which a second has 100.
machine_ticks() {
    sed 's/.*) //' "/proc/$machine/stat" | awk '{ print $12 + $13 }'
}

await_status() {
    local pauses=0 life= silent=0
    until [[ -e $run_directory/share/status ]]; do
        alive "$machine" || guest_failed "the guest ended without a status"
        check_reader
        check_alive
        check_time_limit
        pause
    done
}

# Ends the command if the reader of one of its outputs has ended, as a pipe does.
check_reader() {
    local pump status=0
    for pump in "$stdout_pump" "$stderr_pump"; do
        alive "$pump" && continue
        wait "$pump" || status=$?
        ((status != 141)) || exit 141
        die "can't write the command's output: check whether the file system is full"
    done
}

check_time_limit() {
    if ((time_limit > 0 && SECONDS - guest_started >= time_limit)); then
        end_by_time_limit
    fi
}

# Waits until a pump has written all bytes of the command.
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
    local never out err guest_started=$SECONDS status stdout_bytes stderr_bytes boot_time busy_time
    fill_run_directory
    write_settings "$@"
    # A guest that sees /tmp makes this directory, to hide the files of this machine in it.
    [[ ${share_kinds[/tmp]-} != rw || -e /tmp/hsperfdata_root ]] || at_exit+=("rmdir /tmp/hsperfdata_root 2>/dev/null")
    # Also the guest opens the fifos, and QEMU would wait for a reader.
    exec {out}<>"$run_directory/stdout" {err}<>"$run_directory/stderr" {never}<>"$run_directory/never"
    case $bed in
    uml) start_uml ;;
    *) start_qemu ;;
    esac
    at_exit+=(kill_guest)
    await_boot
    start_pumps
    [[ $bed != uml ]] || start_feeder
    if [[ -t 0 && -t 1 ]]; then
        terminal_state=$(stty -g)
        stty raw -echo
    fi
    await_status
    read -r status stdout_bytes stderr_bytes boot_time busy_time <"$run_directory/share/status"
    await_output "$stdout_pump" "$stdout_bytes"
    await_output "$stderr_pump" "$stderr_bytes"
    [[ -z $times ]] || echo "$boot_time $busy_time" >>"$times"
    return "$status"
}
