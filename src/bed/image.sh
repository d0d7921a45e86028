# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The rows of guests, and their images: finds an image in the cache, or runs a builder to make it. A row is a release of
# Debian with a kernel, rdma-core, librpma and JDK, for this machine's processor or for aarch64.
#
# Reads: cache, scripts. Sets: image, row_suite, row_kernel_suite, row_rdma_suite, row_builder, row_java_home, row_packages,
# row_has_emulator.

rows=(trixie bookworm backports trixie-arm64)

# True for a row whose guest has another processor than this machine.
is_foreign() {
    [[ $1 == *-arm64 ]]
}

# The contents of a row besides Debian's minimal system: the suites of the system, of the kernel and of rdma-core, and the list
# of packages. Debian 13's image has the QEMU in which it boots: that of an older host crashes guests and their JVMs.
select_row() {
    local jdk architecture=amd64
    row_kernel_suite= row_rdma_suite= row_builder=build-image row_has_emulator=false
    case $1 in
    trixie) row_suite=trixie jdk=25 ;;
    bookworm) row_suite=bookworm jdk=17 ;;
    # Debian has no backport of rdma-core. trixie's can't advise soft-RoCE, so the row has that of the next release.
    backports) row_suite=trixie row_kernel_suite=trixie-backports row_rdma_suite=forky jdk=25 ;;
    trixie-arm64) row_suite=trixie jdk=25 architecture=arm64 row_builder=build-arm64-image ;;
    esac
    : "${row_kernel_suite:=$row_suite}" "${row_rdma_suite:=$row_suite}"
    row_java_home=/usr/lib/jvm/java-$jdk-openjdk-$architecture
    row_packages=librpma0,rdma-core,ibverbs-providers,ibverbs-utils,rdmacm-utils,iproute2,ndctl,kmod,e2fsprogs
    row_packages+=,procps,bc,openjdk-$jdk-jdk-headless,libasan8,libubsan1
    if [[ $row_suite == trixie && $architecture == amd64 ]]; then
        row_has_emulator=true
        row_packages+=,qemu-system-x86
    fi
    # The number of progress items: about 200 packages, each fetched, unpacked and, for this machine's processor, configured.
    row_items=650
    ! is_foreign "$1" || row_items=290
}

image_path() {
    local key
    key=$({
        echo "$row $row_suite $row_kernel_suite $row_rdma_suite $row_packages"
        cat "$scripts/$row_builder" "$scripts/initramfs-init"
    } | cache_key)
    echo "$cache/image-$row-$key"
}

check_mirror() {
    local url=$1/dists/$2/InRelease
    supervise wget -q -T 20 -t 2 -O /dev/null "$url" 2>/dev/null ||
        die "no network: can't fetch $url; connect this machine, or set http_proxy if it needs a proxy"
}

# debootstrap mounts /proc, because the JDK can't be installed without it. A container can forbid mounts even to root.
check_mounts() {
    local place status=0
    ask_for_root "making the guest's root file system"
    place=$(mktemp -d "$cache/mount.XXXXXXXX")
    # shellcheck disable=SC2016 # expanded by the other shell
    as_root "mounting" sh -c 'unshare --mount true || { mount -t proc proc "$1" && umount "$1"; }' sh "$place" 2>/dev/null ||
        status=$?
    rmdir "$place"
    ((status == 0)) ||
        die "making the guest needs to mount file systems, which is forbidden here: allow it (for a container: --privileged)," \
            "or copy $(basename "$image") into $cache from a machine where it is made"
}

# The builder runs in its own namespaces, so that its mounts and processes end with it, even if it is killed.
run_image_builder() {
    local -a isolate=(unshare --mount --pid --fork --kill-child)
    local -a root=()
    if ((EUID != 0)); then
        ask_for_root "making the guest's root file system"
        root=(sudo)
    fi
    "${root[@]}" "${isolate[@]}" true 2>/dev/null || isolate=()
    build_with_progress "$row_items" \
        "${root[@]}" "${isolate[@]}" bash "$scripts/build-image" "$row_suite" "$row_kernel_suite" "$row_rdma_suite" "$1" \
        "$(id -u):$(id -g)" "$row_packages" "$row_java_home" "$2"
}

run_foreign_image_builder() {
    build_with_progress "$row_items" bash "$scripts/$row_builder" "$row_suite" "$1" "$row_packages" "$2"
}

build_image() {
    local mirror builder=run_image_builder
    check_space 2500
    if is_foreign "$row"; then
        builder=run_foreign_image_builder
        installs_with_apt || die "making the $row guest needs apt of Debian or Ubuntu"
    else
        check_mounts
    fi
    require_for_image
    mirror=$(debian_mirror)
    check_mirror "$mirror" "$row_suite"
    say "making the $row guest once: Debian $row_suite with the kernel of $row_kernel_suite, librpma and a JDK, from $mirror"
    make_in_cache "$image" image "the $row guest" "$builder" "$mirror"
}

# Ends the script if the image does not exist and can't be made, before other steps that take long.
check_image() {
    select_row "$row"
    image=$(image_path)
    [[ -d $image ]] || is_foreign "$row" || check_mounts
}

# Sets image to the row's image. Makes the image if it does not exist.
provide_image() {
    select_row "$row"
    image=$(image_path)
    provide_in_cache "$image" "$row" "the $row guest" build_image
}
