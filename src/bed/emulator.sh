# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Crashes of QEMU's emulation: the signs of a state that a processor can't have, in what a kernel or a JVM prints when it crashes.
# Only a guest of QEMU with emulation can have them:
# - In a dump of a kernel or a JVM, EFLAGS has a bit that is always 0, or lacks bit 1.
# - A JVM ends by a general protection fault at an instruction that accesses no memory, such as xor %eax,%eax.
# - A JVM ends by SIGILL two bytes into a Java method, where HotSpot has just written a jump and QEMU executed a part of the old
#   instruction.

# Prints the first EFLAGS of a dump that no processor has, or fails: bits 3, 5, 15 and 22 to 31 are always 0, and bit 1 is 1.
# $1: the file with the dump, $2: what is before the 8 last digits of EFLAGS, as an expression of grep.
impossible_flags() {
    local dump flags
    while read -r dump; do
        flags=${dump: -8}
        if (((16#$flags & 0xffc08028) != 0 || (16#$flags & 2) == 0)); then
            echo "EFLAGS is $flags, which no processor has"
            return
        fi
    done < <(grep -aoE "$2[0-9a-f]{8}\\b" "$1")
    return 1
}

# Prints the sign of an impossible crash of a kernel, or fails. $1: the file with the console.
impossible_kernel_state() {
    impossible_flags "$1" 'EFLAGS: '
}

# Prints the sign of an impossible crash of a JVM, or fails. $1: a file hs_err.
impossible_jvm_state() {
    local pc bytes before
    grep -q '^model name.*QEMU TCG' "$1" || return
    ! impossible_flags "$1" 'EFLAGS=0x0*' || return 0
    pc=$(sed -n 's/^Instructions: (pc=0x\([0-9a-f]*\))$/\1/p' "$1")
    [[ -n $pc ]] || return
    bytes=$(instruction_line "$1" "$pc")
    # A register is the source and the destination, so the instruction can't fault.
    if grep -q 'TRAPNO=0x0*d$' "$1" && [[ $bytes =~ ^(4[0-9a-f]\ )?(0[139b]|1[139b]|2[139b]|3[139b]|8[59b])\ [c-f] ]]; then
        echo "a fault of the instruction ${bytes:0:8}, which accesses no memory"
        return
    fi
    before=$(instruction_line "$1" "$(printf %016x $((16#$pc - 16)))")
    # HotSpot has written a jump over the entry of the method, and QEMU executed a part of the old instruction.
    if grep -q '^siginfo: .*SIGILL' "$1" && [[ ${before: -5:2} == e9 ]]; then
        echo "an illegal instruction two bytes behind a jump that was just written"
        return
    fi
    return 1
}

# Prints the 16 bytes at an address. $1: a file hs_err, $2: the address.
instruction_line() {
    sed -n "s/^\\(=>\\)\\{0,1\\} *0x$2: *//p" "$1" | head -n 1
}
