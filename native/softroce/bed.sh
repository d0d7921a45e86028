# shellcheck shell=bash
# Where commands run: on this host, or in a guest of QEMU with KVM, of user-mode Linux, or of emulated QEMU.
#
# Reads: wanted_bed, device, nvdimm, link. Sets: bed.

beds=(auto host kvm uml qemu)

# Why the command can't run in user-mode Linux, or nothing.
needs_qemu=

# Sets bed to where this run takes place, and says why.
select_bed() {
    local why
    [[ $wanted_bed != uml || -z $needs_qemu ]] || usage_error "$needs_qemu needs QEMU: --bed kvm or --bed qemu"
    [[ $wanted_bed != host && -z $device ]] || [[ -z $nvdimm$link$times ]] ||
        usage_error "--nvdimm, --link and --times belong to a guest: leave out --bed host and --device"
    bed=$wanted_bed
    case $wanted_bed in
    auto) choose_bed ;;
    host)
        find_host_device || make_host_device ||
            die "this host has no RDMA device and can't load rdma_rxe: leave out --bed host, for a guest"
        ;;
    kvm)
        kvm_works || die "KVM does not work here (no kvm_intel or kvm_amd, or no access to /dev/kvm): take --bed uml or --bed qemu"
        ;;
    esac
}

# The best there is now: nothing is made for it that takes long.
choose_bed() {
    if [[ -z $nvdimm$link ]] && { find_host_device || make_host_device; }; then
        bed=host
        why="this host has the RDMA device $host_device"
    elif kvm_works; then
        bed=kvm
        why="no RDMA device here, but KVM"
    elif [[ -z $needs_qemu ]] && uml_is_built; then
        bed=uml
        why="neither RDMA device nor KVM here"
    elif [[ -n $needs_qemu ]]; then
        bed=qemu
        why="no KVM here, and $needs_qemu needs QEMU"
    else
        bed=qemu
        why="neither RDMA device nor KVM here; 'native/rxe --bed uml run true' would make a faster one"
    fi
    say "bed: $bed ($why)"
}

# Has all that a guest needs.
provide_guest() {
    require_for_guest
    check_memory
    provide_image
    [[ $bed != uml ]] || provide_uml
    check_space 600
}

# Runs a command on the bed, with its exit status.
run_on_bed() {
    if [[ $bed == host ]]; then
        run_on_host "$@"
    else
        provide_guest
        say "booting the $row guest"
        run_in_guest "$@"
    fi
}
