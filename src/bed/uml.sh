# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Guests of user-mode Linux. Their kernel is an ordinary process, which needs neither root nor KVM.
#
# Reads: cache, scripts, image (directory), memory, run_directory, shares, out, err, link, link_side. Sets: uml. start_uml sets: machine.

# The newest suite whose kernel source has the features that soft-RoCE needs in user-mode Linux.
uml_suite=trixie-backports
# The number of progress items: the objects that the build compiles.
uml_items=900

uml_path() {
    local key
    key=$({
        echo "$uml_suite"
        cat "$scripts/build-uml" "$scripts/uml.config"
    } | cache_key)
    echo "$cache/uml-$key"
}

uml_is_built() {
    [[ -d $(uml_path) ]]
}

require_for_uml_kernel() {
    installs_with_apt || die "making the kernel of user-mode Linux needs the package sources of Debian or Ubuntu"
    require "making the kernel of user-mode Linux" \
        gcc gcc make make flex flex bison bison bc bc xz xz-utils perl perl-base \
        /usr/include/stdlib.h libc6-dev \
        /usr/share/keyrings/debian-archive-keyring.gpg debian-archive-keyring
}

run_uml_builder() {
    build_with_progress "$uml_items" bash "$scripts/build-uml" "$uml_suite" "$@"
}

build_uml() {
    local mirror
    require_for_uml_kernel
    check_space 1500
    mirror=$(debian_mirror)
    say "making the kernel of user-mode Linux once, from Debian's source in $uml_suite at $mirror"
    make_in_cache "$uml" uml "the kernel of user-mode Linux" run_uml_builder "$mirror"
}

# Sets uml to the directory of the kernel. Makes the kernel if it does not exist.
provide_uml() {
    uml=$(uml_path)
    provide_in_cache "$uml" uml "the kernel of user-mode Linux" build_uml
}

# Prints the directory for the file that is the guest's memory, and that is unlinked at once: /dev/shm if it has the room,
# otherwise the cache.
uml_memory_directory() {
    local directory
    for directory in /dev/shm "$cache"; do
        if [[ -w $directory ]] && (($(free_space "$directory") >= memory)) && can_execute_in "$directory"; then
            echo "$directory"
            return
        fi
    done
    die "no room for the guest's $memory MB of memory, neither in /dev/shm nor in $cache:" \
        "enlarge /dev/shm (of a container: --shm-size), or give the guest less with --memory MB"
}

# True if the file system of the directory $1 permits execution: the guest executes its code from the file of its memory.
can_execute_in() {
    local program
    program=$(mktemp "$1/rpma.XXXXXXXX") || return
    printf '#!/bin/sh\n' >"$program"
    chmod u+x "$program"
    local status=0
    "$program" 2>/dev/null || status=$?
    rm -f "$program"
    return "$status"
}

# Chooses one of the processors that this script may use, if possible a processor that no other guest has. A system call of
# the guest is two switches between processes of the host, which take 9 us on one processor and 50 us on two.
choose_uml_processor() {
    local range processor lock
    local -a processors=()
    for range in $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr ',' ' '); do
        for ((processor = ${range%-*}; processor <= ${range#*-}; processor++)); do
            processors+=("$processor")
        done
    done
    for processor in "${processors[@]}" "${processors[$$ % ${#processors[@]}]}"; do
        exec {lock}>"$cache/processor-$processor"
        ! flock -n "$lock" || break
        exec {lock}>&-
    done
    uml_processor=$processor
}

# Standard output and error are serial lines. Standard input arrives in files, because a serial line has no end of file, and
# the kernel reads serial lines byte by byte. The kernel's hostfs shares the directories.
start_uml() {
    # The kernel's command line names directories by their descriptors, because it can't quote names.
    local root run shared index descriptor memory_directory
    local -a arguments network=()
    memory_directory=$(uml_memory_directory) || exit
    choose_uml_processor
    mkdir "$run_directory/share/input"
    mkfifo "$run_directory/notices"
    cp "$scripts/uml-init" "$run_directory/share/boot"
    exec {root}<"$image/root" {run}<"$run_directory/share"
    : >"$run_directory/share/descriptors"
    for index in "${!shares[@]}"; do
        exec {descriptor}<"${shares[index]#*=}"
        echo "descriptors[$index]=$descriptor" >>"$run_directory/share/descriptors"
    done
    exec {notices}<>"$run_directory/notices"
    arguments=(
        "mem=${memory}M" seccomp=auto ncpus=1 panic=-1 loglevel=4
        rootfstype=hostfs "rootflags=/proc/self/fd/$root" ro
        con=null con0=null,fd:1 ssl=null "ssl0=fd:$notices,null" "ssl1=null,fd:$out" "ssl2=null,fd:$err"
    )
    # mount of Debian 12 passes the options as one text, which the kernel takes for the directory.
    shared=/proc/self/fd/$run
    if [[ -n $link ]]; then
        network=(perl "$scripts/link" "$link" "$link_side" 3)
        arguments+=("vec0:transport=fd,fd=3,mac=52:54:00:00:00:0$link_side")
    fi
    HOME=$run_directory TMPDIR=$memory_directory setsid setpriv --pdeathsig KILL taskset -c "$uml_processor" \
        "${network[@]}" "$uml/linux" "${arguments[@]}" \
        init=/bin/bash -- -c "\"mount -t hostfs -o hostfs=$shared none /mnt || mount -t hostfs -o $shared none /mnt; . /mnt/boot\"" \
        </dev/null >"$run_directory/console" 2>"$run_directory/machine.log" &
    machine=$!
    # Suppresses bash's message about the signal of a panic.
    disown "$machine"
}

# Ends this script if a process of the guest has nearly as many mappings as this host permits: each page of such a process can be
# a mapping of its own on this host, and if this host refuses one, the kernel of user-mode Linux repeats the page fault for ever.
# Other threads of the process can give back mappings meanwhile, so an eighth less is too many.
check_mappings() {
    local limit process most wanted=$((memory * 256))
    local -a files=()
    limit=$(</proc/sys/vm/max_map_count) || return 0
    for process in $(cat "/proc/$machine/task/"*/children 2>/dev/null); do
        files+=("/proc/$process/maps")
    done
    ((${#files[@]} > 0)) || return 0
    # wc fails if a process has ended meanwhile.
    most=$({ LC_ALL=C wc -l "${files[@]}" </dev/null 2>/dev/null || true; } |
        awk '$2 != "total" && $1 > most { most = $1 } END { print most + 0 }')
    ((most < limit - limit / 8)) ||
        die "a process in the guest has $most mappings on this host, which permits $limit, and would wait for ever beyond this number:" \
            "permit more with 'sysctl -w vm.max_map_count=$((wanted > 2 * limit ? wanted : 2 * limit))' as root, or use --bed qemu"
}

# Called when the guest is ready.
start_feeder() {
    local input
    exec {input}<&0
    setpriv --pdeathsig KILL bash "$scripts/feed" "$run_directory/share/input" <&"$input" >&"$notices" &
    feeder=$!
    exec {input}<&-
}
