# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The beds, on which commands run: this host, or a guest of QEMU with KVM, of user-mode Linux, or of QEMU with emulation.
#
# Reads: wanted_bed, device, nvdimm, link, times, type. Sets: bed.

beds=(auto host kvm uml qemu)

# The feature that the command needs and user-mode Linux lacks, or nothing.
needs_qemu=

# Sets bed to the bed of this run. If the script chooses the bed, prints the reason.
select_bed() {
    local why
    if [[ $type == siw ]]; then
        select_bed_of_siw
        return
    fi
    if is_foreign "$row"; then
        bed=qemu
        return
    fi
    [[ $wanted_bed != uml || -z $needs_qemu ]] || usage_error "$needs_qemu needs QEMU: --bed kvm or --bed qemu"
    [[ $wanted_bed != host && -z $device ]] || [[ -z $nvdimm$link$times ]] ||
        usage_error "--nvdimm, --link and --times need a guest: omit --bed host and --device"
    bed=$wanted_bed
    case $wanted_bed in
    auto) choose_bed ;;
    host)
        find_host_device || make_host_device ||
            die "this host has no RDMA device and can't load rdma_rxe: omit --bed host, to use a guest"
        ;;
    kvm)
        kvm_works || die "KVM does not work here (no kvm_intel or kvm_amd, or no access to /dev/kvm): use --bed uml or --bed qemu"
        ;;
    esac
}

# The kernel of user-mode Linux has soft-iWARP, and the initramfs of a guest of QEMU does not.
select_bed_of_siw() {
    [[ -z $needs_qemu ]] || usage_error "--type siw needs user-mode Linux, and $needs_qemu needs QEMU"
    [[ $wanted_bed == auto || $wanted_bed == uml ]] || usage_error "--type siw needs --bed uml"
    [[ -z $device ]] || usage_error "--type is for the device of a guest: omit --device"
    ! is_foreign "$row" || usage_error "--type siw needs user-mode Linux, which has no $row"
    bed=uml
}

# Chooses the best bed that needs no long preparation.
choose_bed() {
    if [[ -z $nvdimm$link ]] && { find_host_device || make_host_device; }; then
        bed=host
        why="this host has the RDMA device $host_device"
    elif kvm_works; then
        bed=kvm
        why="no usable RDMA device here, but KVM"
    elif [[ -z $needs_qemu ]] && uml_is_built; then
        bed=uml
        why="neither a usable RDMA device nor KVM here"
    elif [[ -n $needs_qemu ]]; then
        bed=qemu
        why="no KVM here, and $needs_qemu needs QEMU"
    else
        bed=qemu
        why="neither a usable RDMA device nor KVM here; '$program_name --bed uml run true' would make a faster bed"
    fi
    say "bed: $bed ($why)"
}

# Provides the files and checks the resources that a guest needs.
provide_guest() {
    require_for_guest
    check_memory
    # First the kernel, so that another run can make the image meanwhile.
    [[ $bed != uml ]] || { check_image && provide_uml; }
    provide_image
    check_space 600
}

# Runs a command on the bed and returns its exit status.
run_on_bed() {
    if [[ $bed == host ]]; then
        run_on_host "$@"
    else
        # Before the guest is made, which takes long.
        choose_shares
        provide_guest
        check_mount_points
        [[ $command != run && $command != jshell ]] || say_shares
        on_terminal || say "booting the $row guest"
        run_in_guest "$@"
    fi
}
