# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Guests of QEMU.
#
# Reads: bed, row, row_has_emulator, image (directory), memory, cpus, run_directory, shares, nvdimm, link, link_side. start_qemu sets: machine.

# The firmware of a guest with an aarch64 processor.
foreign_firmware=/usr/share/qemu-efi-aarch64/QEMU_EFI.fd

# KVM works only if its module is loaded. /dev/kvm alone is not sufficient: it also exists on hosts where guests hang.
kvm_works() {
    [[ (-e /sys/module/kvm_intel || -e /sys/module/kvm_amd) && -r /dev/kvm && -w /dev/kvm ]]
}

# Makes the file that holds the guest's persistent memory.
provide_nvdimm() {
    : "${nvdimm:=$run_directory/nvdimm}"
    # Allocates the blocks, because a full disk would later raise SIGBUS in QEMU.
    fallocate -l 512M "$nvdimm" 2>/dev/null || truncate -s 512M "$nvdimm" ||
        die "can't write $nvdimm"
}

# Chooses QEMU and its options for this machine's processor. Sets: qemu, processor, machine_type, console, kernel_options.
choose_native_machine() {
    # Emulation is faster without some features of the processor: a JVM starts in 3.9 s instead of 5.2 s, a process in 33 ms
    # instead of 37 ms. With erms or fsrm, Linux and glibc copy memory by "rep movsb", which QEMU emulates byte by byte. With
    # la57, each search of a page reads one more table. With smap, the kernel changes access rights around each copy from or to
    # a process.
    local cpu=max,-erms,-fsrm,-la57,-smap
    qemu=(qemu-system-x86_64)
    ! $row_has_emulator || use_emulator_of_image
    processor=(-accel "$emulation" -cpu "$cpu")
    machine_type="pc,nvdimm=on,nvdimm-persistence=mem-ctrl,usb=off,hpet=off"
    console=ttyS0
    # Linux patches its own code while it boots and loads modules. QEMU's emulation (before 8.1) can then continue with a stale
    # translation on the other CPU: in about one of fifty boots, the kernel died of "int3". So the guest starts the other CPU
    # later (maxcpus=1). That CPU does not measure its speed (lpj), which takes 0.4 s and is useless under emulation. The kernel
    # does not check its timer (no_timer_check): on a busy host it would find that the timer does not tick, and panic.
    kernel_options="mitigations=off tsc=nowatchdog maxcpus=1 lpj=10000000 no_timer_check"
    if [[ $bed == kvm ]]; then
        processor=(-accel kvm -cpu host)
        kernel_options="mitigations=off tsc=nowatchdog"
    fi
}

# The image's program needs the libraries of the image, also their loader, and does not find its own files without -L. A descriptor
# names the image, because a list of directories can't contain a name with a colon.
use_emulator_of_image() {
    local root usr
    exec {root}<"$image/root"
    usr=/proc/self/fd/$root/usr
    qemu=("$usr/lib64/ld-linux-x86-64.so.2" --library-path "$usr/lib/x86_64-linux-gnu" "$usr/bin/qemu-system-x86_64"
        -L "$usr/share/qemu" -L "$usr/share/seabios")
}

# Chooses the same for aarch64. The processor has atomic instructions, and "dc cvap" for persistent memory. It has no pointer
# authentication, which would be slow under emulation. Linux finds the persistent memory in tables of the firmware.
choose_foreign_machine() {
    qemu=(qemu-system-aarch64)
    processor=(-accel "$emulation" -cpu neoverse-n1 -bios "$foreign_firmware")
    machine_type="virt,gic-version=3,nvdimm=on,nvdimm-persistence=mem-ctrl"
    console=ttyAMA0
    kernel_options="mitigations=off"
}

# Standard streams are virtio-serial ports. 9p shares the directories. QEMU takes a single comma for the start of the next
# option, so the commas of a path are doubled.
start_qemu() {
    local index share path access stream input
    local machine_type console kernel_options emulation="tcg,thread=multi,tb-size=1024"
    local -a qemu processor arguments
    if is_foreign "$row"; then
        choose_foreign_machine
    else
        choose_native_machine
    fi
    provide_nvdimm
    local directory=${run_directory//,/,,} root=${image//,/,,}/root side=${link//,/,,}
    arguments=(
        "${processor[@]}" -smp "$cpus" -machine "$machine_type" -m "$memory,slots=2,maxmem=$((memory + 4096))M"
        -nodefaults -no-user-config -no-reboot -display none -monitor none
        -chardev "file,id=console,path=$directory/console" -serial chardev:console
        -kernel "$image/vmlinuz" -initrd "$image/initramfs"
        -append "console=$console loglevel=4 panic=-1 oops=panic $kernel_options"
        -object "memory-backend-file,id=pmem,share=on,mem-path=${nvdimm//,/,,},size=512M"
        -device "nvdimm,memdev=pmem"
        -device "virtio-serial-pci,ioeventfd=off"
        -fsdev "local,id=root,path=$root,security_model=none,readonly=on,multidevs=remap"
        -device "virtio-9p-pci,fsdev=root,mount_tag=root"
        -fsdev "local,id=run,path=$directory/share,security_model=none,multidevs=remap"
        -device "virtio-9p-pci,fsdev=run,mount_tag=run"
    )
    # The command reads QEMU's own standard input: in each version of QEMU, only the chardev "stdio" passes on an end of file.
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
    # Datagrams, so that each guest can end and start again.
    if [[ -n $link ]]; then
        rm -f "$link/$link_side"
        arguments+=(
            -netdev "dgram,id=link,local.type=unix,local.path=$side/$link_side,remote.type=unix,remote.path=$side/$((3 - link_side))"
            # No guest boots from the network, and the package of the firmware for this may be missing.
            -device "virtio-net-pci,netdev=link,mac=52:54:00:00:00:0$link_side,romfile="
        )
    fi
    for index in "${!shares[@]}"; do
        share=share$index path=${shares[index]#*=} access=
        [[ ${shares[index]} == rw=* ]] || access=,readonly=on
        arguments+=(
            -fsdev "local,id=$share,path=${path//,/,,},security_model=none,multidevs=remap$access"
            -device "virtio-9p-pci,fsdev=$share,mount_tag=$share"
        )
    done
    exec {input}<&0
    setpriv --pdeathsig KILL "${qemu[@]}" "${arguments[@]}" \
        < <(exec setpriv --pdeathsig KILL dd bs=64k status=none <&"$input" 2>/dev/null) \
        >/dev/null 2>"$run_directory/machine.log" &
    machine=$!
    exec {input}<&-
}
