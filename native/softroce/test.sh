# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# native/rxe test: runs the tests without a device on this host and the others on a device, and reports the results.
#
# A part is one run of Maven with tests, on this host or in guests, with a directory for its log and reports. Parts run in
# parallel, each on the bed that suits its tests best: docs/testing.md has the table.

# The tags of the tests that user-mode Linux can't run, and of the tests that run in QEMU too.
qemu_tags="persistent-memory | huge-pages"
qemu_too_tags="persistent-memory-too"

# The row whose guest has another processor, and the tag of the tests that run there in each run: its emulation is slow.
foreign_row=trixie-arm64
foreign_tag=aarch64

# The executions of Failsafe with the tests of a device.
device_executions=(device-tests process-tests example-tests)

# Descriptions of the failures, for the last lines.
failures=()
# One line for each part.
summaries=()
# The words that the options add to Maven's command line.
test_options=()
# Whether this run has tests in a guest with another processor.
foreign_tests=false
# The rows of the run besides the chosen one.
other_rows=()
# The directory of the build, and the directory of the parts.
test_output=
test_parts=
# The maximum number of parallel parts. Each part is idle for a third of its time, so the number of processors plus one keeps
# the processors busy.
parts_at_once=

# The names of the parts under way, indexed by job; their titles, readers of the output, start times and durations, indexed by
# name.
declare -A part_of_job=() part_title=() part_reader=() part_begun=() part_seconds=()
# The files that add_report has added.
declare -A reported=()

command_test() {
    ((${#arguments[@]} == 0)) || usage_error "test takes no argument: ${arguments[0]}"
    # Random calls and the search for leaks of a large JVM do not end on one processor.
    ! $sanitize || [[ $wanted_bed != uml ]] || usage_error "--sanitize does not work with --bed uml"
    ! $sanitize || ! is_foreign "$row" || usage_error "--sanitize does not work with --image $row"
    ! $all_rows || test_options+=(-Drpma.long=true -Dit.timeout=6000 -Dtest.timeout=6000
        -Dstand-in.rounds=2000 -Dstand-in.connections=200)
    test_output=$checkout/target
    if $sanitize; then
        test_options+=(-Psanitize)
        # The profile leaves out the examples, and a guest would boot for nothing.
        device_executions=(device-tests process-tests)
        test_output=$checkout/target/sanitize
    fi
    test_parts=$test_output/parts
    select_test_bed
    count_parts_at_once
    require_for_build
    select_foreign_tests
    select_other_rows
    [[ $bed != host ]] || require "the device tests" ibv_devinfo ibverbs-utils rping rdmacm-utils
    rm -rf "$test_parts" 2>/dev/null || true
    mkdir -p "$test_parts" 2>/dev/null ||
        die "can't write $test_output: the tests need a checkout that you can write"
    cd "$checkout" || die "can't enter $checkout"
    build_for_tests
    if ((${#failures[@]} == 0)); then
        test_in_parts
    else
        summaries+=("tests: not run, because the build failed")
    fi
    report
}

# Limits the number of parallel parts to the number of guests for which there is memory.
count_parts_at_once() {
    local room
    room=$(awk -v guest="$((memory + 1024))" '/^MemAvailable:/ { print int($2 / 1024 / guest) }' /proc/meminfo)
    parts_at_once=$(($(nproc) + 1))
    ((parts_at_once <= room)) || parts_at_once=$((room > 0 ? room : 1))
}

# Sets bed: host, kvm, uml or qemu for all device tests; auto to divide them between user-mode Linux and QEMU.
select_test_bed() {
    bed=$wanted_bed
    if [[ $bed == auto ]] && ! is_foreign "$row"; then
        if find_host_device || make_host_device; then
            bed=host
        elif kvm_works; then
            bed=kvm
        fi
    else
        select_bed
    fi
    [[ $bed != host ]] || is_soft "$host_device" || [[ -n $device ]] ||
        die "this host has $host_device: name it with --device $host_device to test on it," \
            "or test in guests with --bed uml or --bed qemu"
}

# Sets foreign_tests, and installs the packages of these tests before the build, which needs some of them. Without root, a run
# with the default options omits the tests if it can't install the packages.
select_foreign_tests() {
    local wanted=false
    local -a requirements=(require_for_foreign_build require_for_guest)
    local requirement
    ! $sanitize || return 0
    if $all_rows || is_foreign "$row"; then
        wanted=true
    elif [[ $wanted_bed != auto || $row != "${rows[0]}" ]]; then
        return 0
    fi
    local row=$foreign_row bed=qemu image
    select_row "$row"
    image=$(image_path)
    [[ -d $image ]] || requirements+=(require_for_image)
    find_lacking "${requirements[@]}"
    if ! $wanted && ((${#lacking[@]} > 0)) && ! { installs_with_apt && get_root; }; then
        summaries+=("device tests in the guest '$row': not run, because packages are missing and can't be installed: ${lacking[*]}")
        return
    fi
    foreign_tests=true
    for requirement in "${requirements[@]}"; do
        "$requirement"
    done
}

# Sets other_rows.
select_other_rows() {
    local other
    for other in "${rows[@]}"; do
        if [[ $other == "$row" ]]; then
            continue
        elif is_foreign "$other"; then
            ! $foreign_tests || other_rows+=("$other")
        elif $all_rows; then
            other_rows+=("$other")
        fi
    done
}

# Runs the build with all its checks, and one test: only then does Surefire fetch its provider, which the other parts need.
build_for_tests() {
    start_part build "the build" mvn -B -ntp verify -DskipITs -Dstand-in.skip=true -Dtest=CheckTest
    end_part
}

# Runs the parts in parallel. The longest parts begin first.
test_in_parts() {
    local other other_bed wanted=$bed
    # More options for the guests of a part.
    local -a run_options=()
    provide_test_guests
    $sanitize || start_guests_part
    case $wanted in
    auto)
        if $sanitize; then
            start_whole_guest_part "$row" qemu
        else
            run_options=(--cpus 1)
            start_guest_part qemu "$row" qemu "$qemu_tags | $qemu_too_tags" qemu-tests
            run_options=()
            start_uml_parts
        fi
        ;;
    uml)
        start_uml_parts
        summaries+=("tests that need QEMU ($qemu_tags): not run")
        ;;
    kvm | qemu) start_whole_guest_part "$row" "$wanted" ;;
    host)
        start_device_part host-device "device tests on $host_device" "-Drpma.address=$host_address" -- "${device_executions[@]}"
        ;;
    esac
    for other in "${other_rows[@]}"; do
        if ! $all_rows; then
            run_options=(--cpus 1)
            start_guest_part "$other" "$other" qemu "$foreign_tag" device-tests
            run_options=()
            continue
        fi
        other_bed=qemu
        is_foreign "$other" || ! kvm_works || other_bed=kvm
        start_whole_guest_part "$other" "$other_bed"
    done
    start_part host "tests without a device" mvn -o -B -ntp surefire:test@default-test surefire:test@example-and-benchmark-tests
    start_part stand-in "device tests on the stand-in" mvn -o -B -ntp surefire:test@stand-in
    start_virtual_part
    while ((${#part_of_job[@]} > 0)); do
        end_part
    done
}

# Provides the guests before the first part starts: the time limit of a part does not include the making of its guest.
provide_test_guests() {
    local wanted=$bed bed other
    local -a wanted_beds=()
    case $wanted in
    auto) wanted_beds=(qemu) ;;
    host) ;;
    *) wanted_beds=("$wanted") ;;
    esac
    # The tests that boot guests boot these beds, with the default row.
    if ! $sanitize; then
        wanted_beds=(qemu uml)
        [[ $row == "${rows[0]}" ]] || supervise "$native/rxe" run --bed uml -- true
        ! is_foreign "$row" || supervise "$native/rxe" run --bed qemu -- true
    fi
    for bed in "${wanted_beds[@]}"; do
        provide_guest
    done
    bed=qemu
    for other in "${other_rows[@]}"; do
        local row=$other
        provide_guest
    done
}

# Starts the tests of waits (WaitStressTest) and of event loops (EventLoopIT) with a JDK that has virtual threads: the default
# JDK may be too old.
start_virtual_part() {
    local title="waits and loops on the stand-in with a newer JDK" home
    if home=$(find_jdk_with_virtual_threads); then
        start_part stand-in-virtual "$title" env "JAVA_HOME=$home" \
            mvn -o -B -ntp surefire:test@stand-in -Dtest=WaitStressTest,EventLoopIT
    else
        summaries+=("$title: not run, there is no JDK 21 or later in /usr/lib/jvm")
    fi
}

start_uml_parts() {
    start_guest_part uml "$row" uml "!($qemu_tags)" device-tests newer-jdk-tests
    start_guest_part uml-processes "$row" uml "!($qemu_tags)" process-tests
    start_guest_part uml-examples "$row" uml "!($qemu_tags)" example-tests
}

# Starts all device tests in guests of one kind. $1: row, $2: bed.
start_whole_guest_part() {
    local name=$2
    local -a executions=("${device_executions[@]}" newer-jdk-tests)
    [[ $1 == "$row" ]] || name=$1
    # Tests that start processes exceed their time limits under this emulation.
    ! is_foreign "$1" || executions=(device-tests)
    start_guest_part "$name" "$1" "$2" "any() | none()" "${executions[@]}"
}

# Starts a part whose tests run in guests: one guest for each execution. Maven runs on this host, and starts "java" in the guest.
# $1: name, $2: row, $3: bed, $4: an expression of tags, $5...: executions of Failsafe.
start_guest_part() {
    local name=$1 guest_row=$2 guest_bed=$3 tags=$4
    local -a options=()
    shift 4
    # Debian 12 has only the oldest JDK that is supported.
    if [[ $guest_row == bookworm ]]; then
        set -- "${@/newer-jdk-tests/}"
        tags="($tags) & !newer-jdk"
    fi
    make_guest_java "$name" "$guest_row" "$guest_bed"
    if is_foreign "$guest_row"; then
        build_foreign_libraries "$test_parts/$name"
        options=("-Dinterposer=$test_parts/$name/libinterposer.so" "-Dposts=$test_parts/$name/libposts.so")
    fi
    start_device_part "$name" "device tests in the guest '$name' ($guest_row on $guest_bed)" \
        "-Djvm=$test_parts/$name/bin/java" "-Dit.preload=" "-Dit.tags=$tags" "${options[@]}" -- "$@"
}

# Compiles the libraries that tests preload, for a guest with another processor. $1: the directory for them.
build_foreign_libraries() {
    local -x CC=aarch64-linux-gnu-gcc
    "$checkout/src/test/c/interposer/build" "$1/libinterposer.so"
    "$checkout/src/test/c/posts/build" "$1/libposts.so" "-L$checkout/target/aarch64-stubs"
}

# Makes the program "java" of a part: it runs java in a guest. Surefire takes no other name. Libraries to preload and options of
# sanitizers are for the guest. Reads run_options.
make_guest_java() {
    local java=$test_parts/$1/bin/java
    local -a command=("$native/rxe" run --bed "$3" --image "$2" --memory "$memory"
        --times "$test_parts/$1/times" "${run_options[@]}" -- env)
    local program=java
    ! $sanitize || command+=("LD_PRELOAD=libasan.so.8")
    # The second compiler takes longer under emulation than its code saves.
    ! is_foreign "$2" || program="java -XX:TieredStopAtLevel=1"
    # Few mappings on this host, which permits 65,530 of them for a process: see check_mappings in uml.sh.
    [[ $3 != uml ]] || program="java -Xms384m -Xmx384m -XX:+AlwaysPreTouch"
    mkdir -p "${java%/*}"
    cat >"$java" <<END
#!/bin/bash
options=()
for name in ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS; do
    [[ ! -v \$name ]] || options+=("\$name=\${!name}")
done
exec$(printf ' %q' "${command[@]}") "\${options[@]}" $program "\$@"
END
    chmod +x "$java"
}

# Starts a part with device tests. $1: name, $2: title, $3... --: options of Maven, the rest: executions of Failsafe.
start_device_part() {
    local name=$1 title=$2 execution
    local -a options=() goals=()
    shift 2
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    for execution in "$@"; do
        goals+=(${execution:+"failsafe:integration-test@$execution"})
    done
    for execution in "$@"; do
        goals+=(${execution:+"failsafe:verify@$execution"})
    done
    start_part "$name" "$title" mvn -o -B -ntp "${goals[@]}" "${options[@]}" -Drpma.device.required=true
}

# Starts the tests that boot and end guests themselves.
start_guests_part() {
    require "the tests of a user's project" git git gradle gradle
    start_part guests "tests that boot guests" mvn -o -B -ntp failsafe:integration-test@guest-tests failsafe:verify@guest-tests
}

# Starts a part, when there is room for it. $1: name, $2: title; then Maven's command line.
start_part() {
    local name=$1 output
    part_title[$name]=$2
    shift 2
    while ((${#part_of_job[@]} >= parts_at_once)); do
        end_part
    done
    say "testing: ${part_title[$name]} (log: ${test_parts#"$checkout"/}/$name/log)"
    mkdir -p "$test_parts/$name"
    mkfifo "$test_parts/$name/output"
    show_part "$name" <"$test_parts/$name/output" &
    part_reader[$name]=$!
    exec {output}>"$test_parts/$name/output"
    rm "$test_parts/$name/output"
    part_begun[$name]=$SECONDS
    # If this script is killed, timeout is killed, and with it Maven. The JVMs of the tests see the end of their input and end.
    start_job timeout --kill-after=10 "$time_limit" setpriv --pdeathsig KILL "$@" "-Dtest.part=parts/$name" "${test_options[@]}" \
        </dev/null >&"$output" 2>&1
    exec {output}>&-
    part_of_job[$job]=$name
}

# Reads the output of a part: writes it to the log of the part, and the result of each class to the terminal.
show_part() {
    local line log=$test_parts/$1/log
    local result='Tests run: ([0-9]+), Failures: 0, Errors: 0, Skipped: 0, Time elapsed: ([0-9.]+ s) -- in (.*)'
    while IFS= read -r line; do
        printf '%s\n' "$line" >&3
        if [[ $line =~ $result ]]; then
            printf '%s: %s: %s tests, %s\n' "$1" "${BASH_REMATCH[3]}" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        elif [[ $line == "[ERROR] "*[.:]* && $line != *"[Help "* && $line != *" -X switch"* && $line != *"following articles"* ||
            $line == *" -- in "* || $line == rxe:* || $line == "  | "* ]]; then
            printf '%s: %s\n' "$1" "$line"
        fi
    done 3>"$log"
}

# Waits until a part ends, and counts its tests.
end_part() {
    local ended= name status=0
    wait -n -p ended "${!part_of_job[@]}" 2>/dev/null || status=$?
    # wait -n does not report a job that a signal has ended between two waits.
    for name in "${!part_of_job[@]}"; do
        [[ -z $ended ]] || break
        if ! kill -0 "$name" 2>/dev/null; then
            ended=$name status=0
            wait "$ended" 2>/dev/null || status=$?
        fi
    done
    name=${part_of_job[$ended]}
    # After the time limit, guests of the part are still ending.
    timeout 10 bash -c "while kill -0 -- -$ended; do sleep 0.1; done" 2>/dev/null || true
    unset "part_of_job[$ended]" "running[$ended]"
    # Status 127: bash has forgotten the reader, which has ended.
    wait "${part_reader[$name]}" 2>/dev/null || (($? == 127))
    part_seconds[$name]=$((SECONDS - part_begun[$name]))
    case $status in
    0) ;;
    124 | 137) failures+=("${part_title[$name]}: ended by the time limit of $time_limit s") ;;
    *) failures+=("${part_title[$name]}: ended with status $status") ;;
    esac
    case $name in
    build) ;;
    host) count_tests "$name" surefire-reports "${part_title[$name]}" ;;
    stand-in*) count_tests "$name" stand-in-reports "${part_title[$name]}" no-skips ;;
    *) count_tests "$name" failsafe-reports "${part_title[$name]}" no-skips ;;
    esac
    find_reports "$name"
}

# Adds up the tests of a part. $4: no-skips if a skipped test is a failure.
count_tests() {
    local reports=$test_parts/$1/$2 title=$3 skips=${4:-} run failed errors skipped
    read -r run failed errors skipped < <(sum_reports "$reports")
    summaries+=("$title: Tests run: $run, Failures: $failed, Errors: $errors, Skipped: $skipped")
    # After another failure it is expected that no test was run.
    ((run > 0 || ${#failures[@]} > 0)) || failures+=("$title: none was run")
    if ((failed + errors > 0)); then
        failures+=("$title: $((failed + errors)) failed")
        name_failed_tests "$reports" "$title"
    fi
    [[ -z $skips ]] || ((skipped == 0)) || failures+=("$title: $skipped skipped")
}

# Adds a line for each test that failed: class, method and the beginning of its message.
name_failed_tests() {
    local line
    while IFS= read -r line; do
        failures+=("$2: $line")
    done < <(cat "$1"/TEST-*.xml | awk '
        function value(name) {
            return match($0, " " name "=\"[^\"]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : ""
        }
        /<testcase / { test = value("classname") "." value("name") }
        /<(failure|error)[ >]/ { print test ": " value("type") ": " substr(value("message"), 1, 2000) }' |
        sed 's/&#10;/ /g; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&apos;/'"'"'/g; s/&amp;/\&/g')
}

# Prints the sums of tests, failures, errors and skipped in a directory of JUnit reports.
sum_reports() {
    cat "$1"/TEST-*.xml 2>/dev/null | grep -o '<testsuite [^>]*>' |
        awk '
            function value(name) {
                return match($0, " " name "=\"[0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : 0
            }
            { run += value("tests"); failed += value("failures"); errors += value("errors"); skipped += value("skipped") }
            END { print run + 0, failed + 0, errors + 0, skipped + 0 }'
}

# Counts crashes of JVMs and reports of sanitizers as failures. No test can report a leak, because a sanitizer finds leaks
# when the JVM ends.
find_reports() {
    local file
    for file in "$test_parts/$1"/{hs_err_*.log,sanitizer.*}; do
        [[ ! -e $file ]] || add_report "$1" "$file"
    done
    # Crashes of JVMs that were started without the options of the tests.
    for file in "$checkout"/hs_err_*.log; do
        [[ ! $file -nt $test_parts/build/log ]] || add_report "$1" "$file"
    done
}

# Adds a report of a part, with its beginning, because a run in CI keeps the output alone. $1: part, $2: file.
add_report() {
    [[ -z ${reported[$2]-} ]] || return 0
    reported[$2]=1
    failures+=("${part_title[$1]}: see $2:"$'\n'"$(head -c 2000 "$2" | sed 's/^/  | /' || true)")
}

report() {
    print_profile
    echo
    printf '%s\n' "${summaries[@]}"
    if ((${#failures[@]} > 0)); then
        printf 'FAILED: %s\n' "${failures[@]}"
        exit 1
    fi
    echo "all tests passed ($SECONDS s)"
}

# Prints the times of parts and classes. The extension ClassProfile writes a line for each class: name, begin and end in ms
# since the epoch, processor times in ms of its JVM and of the JVMs that it started (or "-" if classes run in parallel), and
# the number of JVMs that it started.
print_profile() {
    local name boot processor
    local -a profiles
    echo
    echo "Time of the parts in seconds: total, boot of the guest, tests; processor time of the guest"
    for name in "${!part_seconds[@]}"; do
        boot=- processor=-
        [[ ! -e $test_parts/$name/times ]] ||
            read -r boot processor < <(awk '{ boot += $1; busy += $2 } END { print boot, busy }' "$test_parts/$name/times")
        printf '%7d %7s %7d %7s  %s\n' "${part_seconds[$name]}" "$boot" "$(tests_span "$name")" "$processor" "$name"
    done | sort -rn
    profiles=("$test_parts"/*/profile-*.tsv)
    [[ -e ${profiles[0]} ]] || return 0
    echo
    echo "Time of the classes in seconds: total, processor time, part of it in started JVMs; number of started JVMs"
    awk -F '\t' '
        { wall = ($3 - $2) / 1000; if (wall < 1) { rest += wall; next } }
        $4 == "-" { printf "%7.1f       -       - %4d  %s\n", wall, $6, $1; next }
        { printf "%7.1f %7.1f %7.1f %4d  %s\n", wall, ($4 + $5) / 1000, $5 / 1000, $6, $1 }
        END { printf "%7.1f                        classes shorter than a second\n", rest }' "${profiles[@]}" | sort -rn
}

# Prints the seconds from the begin of the first class to the end of the last class.
tests_span() {
    cat "$test_parts/$1"/profile-*.tsv 2>/dev/null | awk -F '\t' '
        NR == 1 || $2 < first { first = $2 }
        NR == 1 || $3 > last { last = $3 }
        END { print int((last - first) / 1000) }'
}
