# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# This machine: the packages that it lacks, and its RDMA device, which is its own or a soft-RoCE device.
#
# Reads: cache, device. find_host_device and make_host_device set: host_device, host_address.

check_platform() {
    [[ $(uname -s) == Linux && $(uname -m) == x86_64 ]] ||
        die "native/rxe needs Linux on x86-64, and this machine has $(uname -s) on $(uname -m): use such a machine," \
            "or 'mvn verify' on a host with an RDMA device"
}

os_field() {
    sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}$/\1/p" /etc/os-release 2>/dev/null
}

installs_with_apt() {
    local ids
    ids=" $(os_field ID) $(os_field ID_LIKE) "
    [[ $ids == *" debian "* || $ids == *" ubuntu "* ]] && command -v apt-get >/dev/null
}

# Sets missing to the packages whose probe is missing. Takes pairs of a probe (a program, or the path of a file) and its
# package.
find_missing() {
    missing=()
    while (($# > 0)); do
        if [[ $1 == /* ]]; then
            [[ -e $1 ]] || missing+=("$2")
        else
            command -v "$1" >/dev/null || missing+=("$2")
        fi
        shift 2
    done
}

# Installs the packages whose probe is missing. $1: the purpose; then pairs as above.
require() {
    local purpose=$1
    local -a missing
    shift
    find_missing "$@"
    ((${#missing[@]} > 0)) || return 0
    install_packages "$purpose" "${missing[@]}"
    hash -r
    find_missing "$@"
    ((${#missing[@]} == 0)) ||
        die "files that $purpose needs are missing in installed packages: try 'apt-get install --reinstall ${missing[*]}'"
}

installation=

# dpkg must not be interrupted: after a signal, this script waits for the end of the installation.
await_installation() {
    [[ -z $installation ]] || wait "$installation" || true
}

install_packages() {
    local purpose=$1 log=$cache/install.log status=0
    shift
    installs_with_apt ||
        die "can't install packages on $(os_field PRETTY_NAME): for $purpose, install by hand the equivalents of Debian's $*"
    ask_for_root "installing $*"
    say "installing for $purpose: $*"
    local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0
        -o APT::Update::Error-Mode=any)
    local -a install=("${apt[@]}" install -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io)
    ((EUID == 0)) || apt=(sudo "${apt[@]}") install=(sudo "${install[@]}")
    # Ignores errors, because third-party sources may be broken: the download fails if a needed source is broken.
    supervise "${apt[@]}" update >"$log" 2>&1 || true
    supervise "${install[@]}" --download-only "$@" >>"$log" 2>&1 || installation_failed "$log" "$@"
    set -m
    "${install[@]}" "$@" </dev/null >>"$log" 2>&1 &
    installation=$!
    set +m
    wait "$installation" || status=$?
    installation=
    ((status == 0)) || installation_failed "$log" "$@"
}

installation_failed() {
    local log=$1
    shift
    if grep -qE 'Unable to locate package|has no installation candidate' "$log"; then
        if grep -qE 'Could not resolve|Could not connect|Connection failed|Failed to fetch' "$log"; then
            die "no network: can't fetch the package lists for $*; connect this machine, or set http_proxy"
        fi
        die "this distribution's package sources lack one of $*: add a source that has it ($log)"
    elif grep -qE 'No space left|enough free space' "$log"; then
        die "not enough disk space to install $*: free some on the file systems of /usr and /var"
    elif grep -qE 'Could not resolve|Could not connect|Connection failed|Failed to fetch' "$log"; then
        die "no network: can't fetch $*; connect this machine, or set http_proxy if it needs a proxy"
    fi
    die "can't install $*: try 'apt-get install $*' (the output of this attempt is in $log)"
}

require_for_guest() {
    local -a packages=(setpriv util-linux flock util-linux)
    case $bed in
    uml) packages+=(perl perl-base) ;;
    *)
        select_row "$row"
        if is_foreign "$row"; then
            packages+=(qemu-system-aarch64 qemu-system-arm "$foreign_firmware" qemu-efi-aarch64)
        elif ! $row_has_emulator; then
            packages+=(qemu-system-x86_64 qemu-system-x86)
        fi
        ;;
    esac
    require "the guest" "${packages[@]}"
}

# Installs the packages that only the making of an image needs.
require_for_image() {
    require "making the guest" \
        debootstrap debootstrap \
        /usr/share/keyrings/debian-archive-keyring.gpg debian-archive-keyring \
        wget wget busybox busybox-static cpio cpio modprobe kmod xz xz-utils
}

javac_release() {
    "$1" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p'
}

# Selects a JDK of release 17 or later: the user's, otherwise one of Debian's.
require_jdk() {
    local javac=${JAVA_HOME:+$JAVA_HOME/bin/}javac found candidate
    if command -v "$javac" >/dev/null; then
        found=$(javac_release "$javac")
        ((${found:-0} < 17)) || return 0
    fi
    for candidate in 17 21 25; do
        found=/usr/lib/jvm/java-$candidate-openjdk-amd64
        [[ -x $found/bin/javac ]] || continue
        export JAVA_HOME=$found
        return
    done
    for candidate in 17 21 25; do
        if apt-cache show "openjdk-$candidate-jdk-headless" >/dev/null 2>&1; then
            break
        fi
    done
    build_packages+=("/usr/lib/jvm/java-$candidate-openjdk-amd64/bin/javac" "openjdk-$candidate-jdk-headless")
    export JAVA_HOME=/usr/lib/jvm/java-$candidate-openjdk-amd64
}

# Prints the home of the newest JDK of release 21 or later that is installed.
find_jdk_with_virtual_threads() {
    local release number newest=20 home=
    for release in /usr/lib/jvm/*/release; do
        number=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$release" 2>/dev/null)
        if ((${number:-0} > newest)) && [[ -x ${release%/release}/bin/java ]]; then
            newest=$number home=${release%/release}
        fi
    done
    [[ -n $home ]] && printf '%s\n' "$home"
}

require_for_build() {
    local -a build_packages=(
        mvn maven gcc gcc
        /usr/include/stdlib.h libc6-dev
        /usr/include/librpma.h librpma-dev
        /usr/include/infiniband/verbs.h libibverbs-dev
        /usr/include/rdma/rdma_cma.h librdmacm-dev
    )
    require_jdk
    require "building" "${build_packages[@]}"
}

# The build adds the shim for aarch64 if the cross compiler is there.
require_for_foreign_build() {
    require "building for aarch64" \
        aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu \
        /usr/aarch64-linux-gnu/lib/libc.so libc6-dev-arm64-cross
}

is_active() {
    grep -qs ACTIVE "/sys/class/infiniband/$1"/ports/*/state
}

# Soft-RoCE and soft-iWARP have no hardware behind them.
is_soft() {
    [[ ! -e /sys/class/infiniband/$1/device ]]
}

# The IPv4 address of the network interface that belongs to an RDMA device.
device_address() {
    local interface
    interface=$(cat "/sys/class/infiniband/$1"/ports/*/gid_attrs/ndevs/0 2>/dev/null | head -n 1)
    [[ -n $interface ]] || return 1
    ip -4 -o address show dev "$interface" scope global |
        awk '{ sub("/.*", "", $4); print $4; exit } END { if (NR == 0) exit 1 }'
}

# The named device, or the first active one that has an address.
find_host_device() {
    local path name
    if [[ -n $device ]]; then
        [[ -e /sys/class/infiniband/$device ]] ||
            die "no RDMA device $device on this host: $(cd /sys/class/infiniband 2>/dev/null && echo "there are:" * || echo "it has none")"
        is_active "$device" || die "the RDMA device $device has no active port: bring its network interface up"
        host_address=$(device_address "$device") ||
            die "the RDMA device $device has no IPv4 address: give its network interface one"
        host_device=$device
        return
    fi
    for path in /sys/class/infiniband/*; do
        name=${path##*/}
        if is_active "$name" && host_address=$(device_address "$name"); then
            host_device=$name
            return
        fi
    done
    return 1
}

# Makes a soft-RoCE device on a pair of virtual interfaces. It is removed at exit.
make_host_device() {
    local -a root=()
    modprobe -n -q rdma_rxe 2>/dev/null || return 1
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null || return 1
        root=(sudo -n)
    fi
    remove_stale_host_devices
    "${root[@]}" modprobe -q rdma_rxe 2>/dev/null || return 1
    require "the RDMA device" ip iproute2 rdma iproute2
    host_interface=rpma$$
    # A range for tests of network devices (RFC 2544): no real network uses it.
    host_address=198.18.$(($$ / 250 % 250)).$(($$ % 250 + 1))
    at_exit+=(remove_host_device)
    "${root[@]}" modprobe -q crc32_generic 2>/dev/null || true
    # Each command can fail in a container that may load modules but not configure the network.
    "${root[@]}" ip link add "${host_interface}a" type veth peer name "${host_interface}b" &&
        "${root[@]}" ip link set "${host_interface}a" up &&
        "${root[@]}" ip link set "${host_interface}b" up &&
        "${root[@]}" ip address add "$host_address/24" dev "${host_interface}a" &&
        "${root[@]}" rdma link add "$host_interface" type rxe netdev "${host_interface}a" || return 1
    host_device=$host_interface
}

# The removal of the interface removes its soft-RoCE link too.
remove_host_device() {
    [[ -e /sys/class/net/${host_interface}a ]] || return 0
    as_root "removing $host_interface" ip link delete "${host_interface}a"
}

# Removes the interfaces of killed scripts. The name of an interface contains the process ID of its script.
remove_stale_host_devices() {
    local path owner
    for path in /sys/class/net/rpma*a; do
        [[ -e $path ]] || continue
        owner=${path##*/rpma}
        owner=${owner%a}
        [[ -e /proc/$owner ]] || as_root "removing rpma$owner" ip link delete "rpma${owner}a"
    done
}

# Runs a command on this host's device, with its exit status.
run_on_host() {
    local -a command=(env RPMA_ADDRESS="$host_address" RPMA_BED=host "$@")
    local status=0
    ulimit -l unlimited 2>/dev/null || ulimit -l "$(ulimit -H -l)"
    if [[ -t 0 ]]; then
        # In the foreground the command can read the terminal, and Ctrl-C goes to the command.
        trap : INT
        ((time_limit == 0)) || command=(timeout --foreground --kill-after=5 "$time_limit" "${command[@]}")
        setpriv --pdeathsig KILL "${command[@]}" || status=$?
        install_traps
        ((time_limit == 0 || (status != 124 && status != 137))) || end_by_time_limit
    else
        bounded "${command[@]}" || status=$?
    fi
    return "$status"
}
