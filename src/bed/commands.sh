# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The commands of native/rxe, which run after its options are parsed. The command "test" is in test.sh.
#
# Reads: arguments, the command line after the options.

command_run() {
    [[ ${arguments[0]:-} != -- ]] || arguments=("${arguments[@]:1}")
    ((${#arguments[@]} > 0)) || usage_error "run needs a command"
    [[ ${arguments[0]} != -* ]] || usage_error "unknown option ${arguments[0]}"
    select_bed
    run_on_bed "${arguments[@]}"
}

command_jshell() {
    [[ ${arguments[0]:-} != -- ]] || arguments=("${arguments[@]:1}")
    select_bed
    library_is_built || build
    run_on_bed jshell --class-path "$checkout/target/classes" -R--enable-native-access=ALL-UNNAMED \
        --startup "$scripts/jshell-startup" --execution "jdi:hostname(127.0.0.1),timeout(60000)" "${arguments[@]}"
}

command_demo() {
    local file offered name
    ((${#arguments[@]} <= 1)) || usage_error "demo takes only one file, not also ${arguments[1]}"
    if $ratis_demo; then
        ((${#arguments[@]} == 0)) || usage_error "demo --ratis takes no file"
        select_bed
        build
        cd "$checkout" || die "can't enter $checkout"
        # shellcheck disable=SC2016 # of the machine with the device
        run_on_bed bash -c 'exec src/apps/examples/run key-value demo --address "$RPMA_ADDRESS"' </dev/null
        return
    fi
    file=${arguments[0]:-}
    if ((${#arguments[@]} == 1)); then
        [[ -e $file ]] || die "no file '$file': name a file that exists, or none for a generated file"
        [[ -f $file ]] || die "'$file' is not an ordinary file: name an ordinary file, or none for a generated file"
        [[ -r $file ]] || die "can't read '$file': name a file that you can read, or none for a generated file"
    fi
    [[ $wanted_bed != auto || $type == siw ]] || needs_qemu="persistent memory (demo)"
    select_bed
    build
    make_run_directory
    offered=$run_directory/demo
    mkdir "$offered"
    if [[ -n $file ]]; then
        name=$offered/$(basename "$file")
        offer_file "$file" "$name"
    else
        name=$offered/generated-64-MiB
        head -c 64M /dev/urandom >"$name" || die "can't write 64 MB in $cache: free some space, or set RPMA_CACHE"
    fi
    share_kinds["$offered"]=ro
    # The program looks for its classes in the checkout.
    cd "$checkout" || die "can't enter $checkout"
    run_on_bed "$checkout/src/apps/examples/demo" "$name" </dev/null
}

# Runs a part of the benchmarks. $1: its name. Status 3 means a missed target, which is not a failure.
bench_part() {
    local name=$1 status=0
    shift
    say "benchmarks: $name"
    "$@" || status=$?
    ((status == 0 || status == 3)) || die "the benchmarks could not run ($name, status $status): see above"
}

command_bench() {
    local -a quick=() bench reports=(target/bench/{cost,device}.json)
    ((${#arguments[@]} == 0)) || usage_error "bench takes no argument: ${arguments[0]}"
    ! is_foreign "$row" || usage_error "bench does not work with --image $row: its programs in C are built for this machine"
    ! $quick_bench || quick=(--quick)
    needs_qemu="a second processor (bench)"
    select_bed
    build
    cd "$checkout" || die "can't enter $checkout"
    bench=("${JAVA_HOME:+$JAVA_HOME/bin/}java" --enable-native-access=ALL-UNNAMED
        -cp "target/apps/classes:target/apps/lib/*" io.rpma.bench.Bench)
    rm -f target/bench/*.{json,svg}
    src/apps/bench/c/build
    bench_part "the cost of a call" bounded "${bench[@]}" cost "${quick[@]}" </dev/null
    if ! $quick_bench; then
        bench_part "several threads" bounded "${bench[@]}" threads </dev/null
        reports+=(target/bench/threads.json)
    fi
    bench_part "on a device" run_on_bed "$checkout/src/apps/bench/run" "${quick[@]}" </dev/null
    bench_part "all targets" "${bench[@]}" summary "${reports[@]}"
    say "the figures and pictures are in target/bench"
}

# Makes a file readable in a guest, which may not see the directory of the file.
offer_file() {
    ln "$(readlink -f "$1")" "$2" 2>/dev/null || cp --reflink=auto "$1" "$2" ||
        die "can't copy '$1' to $cache: free some space, or set RPMA_CACHE"
}

command_clean() {
    ((${#arguments[@]} == 0)) || usage_error "clean takes no argument: ${arguments[0]}"
    with_cache_locked remove_cache
}
