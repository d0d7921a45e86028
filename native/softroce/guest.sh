# shellcheck shell=bash
# Boots a guest of an image and runs one command in it.
#
# Reads: image (directory), row, checkout, cache, memory, time_limit, boot_limit, nvdimm, link, link_side.
# The command's output passes through unchanged: its standard streams are virtio-serial ports, each with a fifo and a dd
# on this side; the kernel's console goes to a file. Status and settings go through a directory shared over 9p.

run_directory=
qemu=
stdout_pump=
stderr_pump=
terminal_state=

# A KVM that works has its module loaded; /dev/kvm alone proves nothing (it exists on hosts where guests hang in it).
kvm_works() {
    [[ (-e /sys/module/kvm_intel || -e /sys/module/kvm_amd) && -r /dev/kvm && -w /dev/kvm ]]
}

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
    : "${nvdimm:=$run_directory/nvdimm}"
    # Space that is not there would be a SIGBUS in QEMU later.
    fallocate -l 512M "$nvdimm" 2>/dev/null || truncate -s 512M "$nvdimm" ||
        die "can't write $nvdimm"
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
        "RPMA_PMEM=/dev/dax0.0"
        "RPMA_EXT4=/run/ext4"
        "RPMA_RXE=guest"
        "RPMA_IMAGE=$row"
    )
    [[ -z $link ]] || guest_environment+=("RPMA_PEER=10.0.0.$((3 - link_side))")
    if ! kvm_works; then
        # Code that C1 compiles with profiling crashes under QEMU's emulation: seen in one of four long runs.
        guest_environment+=("JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1")
    fi
    declare -p argv directory shares device_address link guest_environment terminal_size |
        # In the guest they are global, also where bash would print a local's attributes.
        sed 's/^declare -- /declare /' >"$run_directory/share/settings"
}

# QEMU reads a comma in a value as the next option unless it is doubled.
qemu_value() {
    printf '%s' "${1//,/,,}"
}

check_memory() {
    local available
    available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
    ((available >= memory + 512)) ||
        die "the guest needs $((memory + 512)) MB of free memory and there are $available MB:" \
            "free some, or give the guest less with --memory MB"
}

start_qemu() {
    local -a accelerator=(-accel "tcg,thread=multi,tb-size=1024" -cpu max) arguments
    # Linux patches its own code while it boots and loads modules, and QEMU's emulation (before 8.1) can go on with a stale
    # translation on the other CPU: a kernel that dies of "int3", in one of some fifty boots. So the other comes later.
    # It would measure its speed then, for which the emulation takes 0.4 s to no result.
    local cpus="maxcpus=1 lpj=10000000"
    local share tag access stream input
    if kvm_works; then
        accelerator=(-accel kvm -cpu host)
        cpus=
    fi
    local directory
    directory=$(qemu_value "$run_directory")
    arguments=(
        "${accelerator[@]}" -smp 2
        -machine "pc,nvdimm=on,usb=off,hpet=off" -m "$memory,slots=2,maxmem=$((memory + 4096))M"
        -nodefaults -no-user-config -no-reboot -display none -monitor none
        -chardev "file,id=console,path=$directory/console" -serial chardev:console
        -kernel "$image/vmlinuz" -initrd "$image/initramfs"
        -append "console=ttyS0 loglevel=4 panic=-1 oops=panic mitigations=off tsc=nowatchdog $cpus"
        -object "memory-backend-file,id=pmem,share=on,mem-path=$(qemu_value "$nvdimm"),size=512M"
        -device "nvdimm,memdev=pmem"
        -device "virtio-serial-pci,ioeventfd=off"
        -fsdev "local,id=root,path=$(qemu_value "$image")/root,security_model=none,readonly=on,multidevs=remap"
        -device "virtio-9p-pci,fsdev=root,mount_tag=root"
        -fsdev "local,id=run,path=$directory/share,security_model=none,multidevs=remap"
        -device "virtio-9p-pci,fsdev=run,mount_tag=run"
    )
    # QEMU's own standard input is the command's: the one chardev of every QEMU that tells the guest of an end of file.
    arguments+=(
        -chardev "stdio,id=stdin,signal=off"
        -device "virtserialport,chardev=stdin,name=stdin"
    )
    for stream in stdout stderr; do
        arguments+=(
            -chardev "file,id=$stream,path=$directory/$stream"
            -device "virtserialport,chardev=$stream,name=$stream"
        )
    done
    # Datagrams, so that either guest can end and come back.
    if [[ -n $link ]]; then
        rm -f "$link/$link_side"
        arguments+=(
            -netdev "dgram,id=link,local.type=unix,local.path=$(qemu_value "$link/$link_side"),remote.type=unix,remote.path=$(qemu_value "$link/$((3 - link_side))")"
            -device "virtio-net-pci,netdev=link,mac=52:54:00:00:00:0$link_side"
        )
    fi
    for share in "${shares[@]}"; do
        tag=${share%%=*}
        access=
        [[ $tag != ro-* ]] || access=,readonly=on
        arguments+=(
            -fsdev "local,id=$tag,path=$(qemu_value "${share#*=}"),security_model=none,multidevs=remap$access"
            -device "virtio-9p-pci,fsdev=$tag,mount_tag=$tag"
        )
    done
    exec {input}<&0
    setpriv --pdeathsig KILL qemu-system-x86_64 "${arguments[@]}" \
        < <(exec setpriv --pdeathsig KILL dd bs=64k status=none <&"$input" 2>/dev/null) \
        >/dev/null 2>"$run_directory/qemu.log" &
    qemu=$!
    exec {input}<&-
    at_exit+=(kill_guest)
}

# Moves bytes from the fifos that QEMU opens to this script's streams. dd, because what it has written can be read in
# /proc/PID/io, which cat's splicing would not show.
start_pumps() {
    setpriv --pdeathsig KILL dd bs=64k status=none if="$run_directory/stdout" 2>/dev/null &
    stdout_pump=$!
    setpriv --pdeathsig KILL dd bs=64k status=none if="$run_directory/stderr" >&2 &
    stderr_pump=$!
}

kill_guest() {
    kill -KILL "$qemu" "$stdout_pump" "$stderr_pump" 2>/dev/null || true
    wait "$qemu" "$stdout_pump" "$stderr_pump" 2>/dev/null || true
    [[ -z $terminal_state ]] || stty "$terminal_state" 2>/dev/null || true
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
        cat "$run_directory/qemu.log"
        sed '/Kernel panic/q' "$run_directory/console" | tail -n 15
    } 2>/dev/null | tr -d '\r' | sed 's/^/  | /' >&2 || true
    exit 1
}

await_boot() {
    local deadline=$((SECONDS + boot_limit))
    until [[ -e $run_directory/share/ready ]]; do
        alive "$qemu" || guest_failed "the guest ended before it was ready"
        ((SECONDS < deadline)) || guest_failed "the guest did not boot within $boot_limit s"
        check_time_limit
        pause
    done
}

await_status() {
    until [[ -e $run_directory/share/status ]]; do
        alive "$qemu" || guest_failed "the guest ended without a status"
        check_reader
        check_time_limit
        pause
    done
}

# Where nobody reads the output any more the command ends, as it would with a pipe.
check_reader() {
    alive "$stdout_pump" && return
    # Without an error it was QEMU's end of the fifo that went away.
    wait "$stdout_pump" || exit 141
    guest_failed "the guest ended without a status"
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
        written=$(awk '$1 == "wchar:" { print $2 }' "/proc/$pump/io")
        ((written < bytes)) || return 0
        check_time_limit
        pause
    done
}

# Runs the command in a guest and returns its exit status.
run_in_guest() {
    local never guest_started=$SECONDS status stdout_bytes stderr_bytes
    fill_run_directory
    share_directories
    write_settings "$@"
    start_qemu
    start_pumps
    exec {never}<>"$run_directory/never"
    await_boot
    if [[ -t 0 && -t 1 ]]; then
        terminal_state=$(stty -g)
        stty raw -echo
    fi
    await_status
    read -r status stdout_bytes stderr_bytes <"$run_directory/share/status"
    await_output "$stdout_pump" "$stdout_bytes"
    await_output "$stderr_pump" "$stderr_bytes"
    return "$status"
}
