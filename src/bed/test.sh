# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# native/rxe test: runs the tests without a device on this host and the others on a device, and reports the results.
#
# A part is one run of Maven with tests, on this host or in guests, with a directory for its log and reports. Parts run in
# parallel, each on the bed that suits its tests best: docs/testing.md has the table.

# The tags of the tests that user-mode Linux can't run, and of the tests of the group pmem, which run there with tmpfs.
qemu_tags="persistent-memory | huge-pages"
pmem_tags="persistent-memory-too | persistent-memory"
# The tags of the tests that need what soft-iWARP lacks: docs/testing.md explains them.
siw_lacks="atomics | completions-after-end | datagrams | empty-receives | extended-queue-pairs | full-queues"
siw_lacks+=" | immediate-data | infiniband-cm | many-connections | read-parts | remote-errors | solicited-events"
siw_tags="!($qemu_tags) & !($siw_lacks)"

# The groups of tests, in the order of the help, and the seconds that each takes on two processors without KVM, with all guests
# made and after the build.
groups=(library checks soak examples pmem bed hosts consumers power-cuts aarch64 ratis ratis-suite images)
declare -A group_seconds=(
    [library]=300 [checks]=30 [soak]=160 [examples]=400 [pmem]=300 [bed]=430 [hosts]=210 [consumers]=400 [power-cuts]=200
    [aarch64]=80 [ratis]=150 [ratis-suite]=1200 [images]=7200
)
build_seconds=90
# The seconds that a guest takes, which only some runs make.
declare -A making_seconds=([image]=150 [uml]=420)

# The row whose guest has another processor, and the tag of its tests: its emulation is slow.
foreign_row=trixie-arm64
foreign_tag=aarch64

# The executions of Failsafe with the tests of the library on a device.
device_executions=(device-tests process-tests)
# Maven's options for the programs that use the library: the examples, tools and benchmarks.
apps=(-f src/apps/pom.xml)
# Maven's options for the channels and the transport of Ratis.
ratis=(-f src/ratis/pom.xml)
# Maven's options for the project of the next parts.
project=()
# In a guest with one processor, many processes at the same time take more of it than the same processes one after the other,
# but a few tests wait for half a minute.
one_at_a_time=(-Dtest.parallel=junit.jupiter.execution.parallel.enabled=false)
two_at_a_time=(-Dtest.parallelism=2)

# Descriptions of the failures, for the last lines.
failures=()
# One line for each part.
summaries=()
# The words that the options add to Maven's command line.
test_options=()
# The rows of the run besides the chosen one.
other_rows=()
# The directory of the build, and the directory of the parts.
test_output=
test_parts=
# The maximum number of parallel parts. Each part is idle for a third of its time, so the number of processors plus one keeps
# the processors busy.
parts_at_once=
# "ROW BED" for each guest of the run.
guests=()
# The jobs that make guests, if any are missing.
making_jobs=()
# The part in which the emulator has crashed and that has run again.
repeated=
# The sums of all tests that ran.
total_run=0 total_failed=0 total_skipped=0

# The names of the parts under way, indexed by job; their titles, command lines, readers of the output, start times and durations,
# indexed by name.
declare -A part_of_job=() part_title=() part_command=() part_reader=() part_begun=() part_seconds=()
# The files that add_report has added.
declare -A reported=()

command_test() {
    local -a native_options=()
    ((${#arguments[@]} == 0)) || usage_error "test takes no argument: ${arguments[0]}"
    # Random calls and the search for leaks of a large JVM do not end on one processor.
    ! $sanitize || [[ $wanted_bed != uml ]] || usage_error "--sanitize does not work with --bed uml"
    ! $sanitize || ! is_foreign "$row" || usage_error "--sanitize does not work with --image $row"
    ! is_foreign "$row" || [[ -z ${wanted_groups[*]} || ${wanted_groups[*]} =~ ^(library|aarch64| )+$ ]] ||
        usage_error "with --image $row, --only takes library and aarch64"
    $all_rows && ((${#wanted_groups[@]} > 0)) && usage_error "--all runs all groups: omit --only"
    select_groups
    ! wants images || test_options+=(-Dtest.timeout=6000)
    ! $all_rows || test_options+=(-Drpma.long=true -Dstand-in.rounds=2000 -Dstand-in.connections=200)
    test_output=$checkout/target
    if $sanitize; then
        test_options+=(-Psanitize)
        test_output=$checkout/target/sanitize
    fi
    test_parts=$test_output/parts
    bed=auto
    ! wants library || select_test_bed
    count_parts_at_once
    select_other_rows
    list_guests
    announce_tests
    require_for_tests
    rm -rf "$test_parts" 2>/dev/null || true
    mkdir -p "$test_parts" 2>/dev/null ||
        die "can't write $test_output: the tests need a checkout that you can write"
    cd "$checkout" || die "can't enter $checkout"
    set_native_options "$test_output"
    test_options+=("${native_options[@]}")
    : >"$test_parts/begun"
    start_making
    build_for_tests
    if ((${#failures[@]} == 0)); then
        test_in_parts
    else
        summaries+=("tests: not run, because the build failed")
    fi
    report
}

# Sets wanted_groups.
select_groups() {
    if $all_rows; then
        wanted_groups=("${groups[@]}")
    elif ((${#wanted_groups[@]} == 0)); then
        wanted_groups=(library)
    fi
    if $sanitize; then
        $all_rows || [[ ${wanted_groups[*]} == library ]] || usage_error "--sanitize is for the group library"
        wanted_groups=(library)
        ! $all_rows || wanted_groups+=(images)
    fi
}

wants() {
    [[ " ${wanted_groups[*]} " == *" $1 "* ]]
}

# Prints the bed of a group that needs no user-mode Linux.
qemu_bed() {
    if kvm_works; then
        echo kvm
    else
        echo qemu
    fi
}

# Prints the bed whose guest must be there for a group whose tests boot guests of the default row. $1: the group.
booting_bed() {
    if [[ $1 =~ ^(power-cuts|soak|examples)$ ]] && kvm_works; then
        echo kvm
    else
        echo uml
    fi
}

# Prints "ROW BED" for each guest of the run.
test_guests() {
    local group other
    if wants library; then
        case $bed:$sanitize in
        host:*) ;;
        auto:true) echo "$row qemu" ;;
        auto:*) printf '%s\n' "$row uml" "$row qemu" ;;
        *) echo "$row $bed" ;;
        esac
    fi
    ! wants soak || echo "$row $(booting_bed soak)"
    ! wants examples || echo "$row $(booting_bed examples)"
    ! wants ratis && ! wants ratis-suite || echo "$row $(booting_bed examples)"
    ! wants pmem || echo "$row $(qemu_bed)"
    for group in bed hosts consumers power-cuts; do
        ! wants "$group" || echo "${rows[0]} $(booting_bed "$group")"
    done
    for other in "${other_rows[@]}"; do
        echo "$other $(is_foreign "$other" && echo qemu || qemu_bed)"
    done
}

# Sets guests to the guests of the run, each once.
list_guests() {
    mapfile -t guests < <(test_guests | awk '!seen[$0]++')
}

# Prints "image ROW" and "uml kernel" for what a guest needs and the cache lacks. $1: row, $2: bed.
missing_for_guest() {
    local row=$1
    select_row "$row"
    [[ -d $(image_path) ]] || echo "image $1"
    [[ $2 != uml ]] || uml_is_built || echo "uml kernel"
}

# Says what will run, what is made first, and about how long it takes.
announce_tests() {
    local group missing seconds longest=0 sum=0 making=0 processors
    missing=$(for_each_guest missing_for_guest | sort -u)
    for group in "${wanted_groups[@]}"; do
        sum=$((sum + group_seconds[$group]))
        ((group_seconds[$group] <= longest)) || longest=${group_seconds[$group]}
    done
    # Groups wait half of their time, in which others run.
    seconds=$((build_seconds + (sum / 2 > longest ? sum / 2 : longest)))
    ! $all_rows || seconds=$((seconds * 3))
    for group in $(cut -d ' ' -f 1 <<<"$missing"); do
        making=$((making + making_seconds[$group]))
    done
    # More than four processors have nothing to do.
    processors=$(nproc)
    ((processors <= 4)) || processors=4
    say "testing ${wanted_groups[*]} on $(describe_places): about $(minutes $((seconds + making))) minutes if this machine is idle"
    [[ -z $missing ]] || say "the making of guests takes about $(minutes $making) of these minutes, once"
}

# Prints a number of minutes for a number of seconds on two processors. Reads: processors.
minutes() {
    echo $((($1 * 2 / processors + 59) / 60))
}

# Prints where the tests run.
describe_places() {
    local place="this host" guest guest_row guest_bed
    [[ $bed != host ]] || place+=" and its device $host_device"
    for guest in "${guests[@]}"; do
        read -r guest_row guest_bed <<<"$guest"
        place+=", $guest_row in $guest_bed"
    done
    echo "$place"
}

# Calls a function with the row and the bed of each guest.
for_each_guest() {
    local guest guest_row guest_bed
    for guest in "${guests[@]}"; do
        read -r guest_row guest_bed <<<"$guest"
        "$1" "$guest_row" "$guest_bed"
    done
}

# Installs packages before the first job starts, while a person can still enter a password.
require_for_tests() {
    require_for_build
    ! is_foreign "$row" && ! wants aarch64 || require_for_foreign_build
    ! wants consumers || require "the tests of a user's project" git git gradle gradle
    [[ $bed != host ]] || require "the device tests" ibv_devinfo ibverbs-utils rping rdmacm-utils
    for_each_guest require_guest
}

# Installs the packages for the making and the boot of a guest. $1: row, $2: bed.
require_guest() {
    local row=$1 bed=$2 missing
    require_for_guest
    missing=$(missing_for_guest "$1" "$2")
    if [[ $missing == *image* ]]; then
        is_foreign "$row" || ask_for_root "making the $row guest"
        require_for_image
    fi
    [[ $missing != *uml* ]] || require_for_uml_kernel
}

# Starts the making of the guests that are missing: the images one after the other, and the kernel of user-mode Linux.
start_making() {
    local images= kernel= commands
    for_each_guest add_making
    for commands in "$kernel" "$images"; do
        [[ -n $commands ]] || continue
        # Not on the terminal: the lines of the progress would mix with those of the parts.
        start_job bash -c "$commands" </dev/null 2> >(exec cat >&2)
        making_jobs+=("$job")
    done
}

# Adds the commands that make a guest to images and kernel. $1: row, $2: bed.
add_making() {
    local missing guest_bed=$2
    local -a command=("$rxe" run --memory 1024 --image "$1")
    missing=$(missing_for_guest "$1" "$2")
    if [[ $missing == *uml* ]]; then
        kernel="${command[*]@Q} --bed uml -- true"
        guest_bed=$(qemu_bed)
    fi
    if [[ $missing == *image* && $images != *"'$1' "* ]]; then
        images+="${command[*]@Q} --bed $guest_bed -- true; "
    fi
}

is_making() {
    local job
    for job in "${making_jobs[@]}"; do
        ! alive "$job" || return 0
    done
    return 1
}

# Waits until a guest is made, and meanwhile for the ends of parts. Fails if the guest can't be made. $1: row, $2: bed.
await_guest() {
    local making=true
    while [[ -n $(missing_for_guest "$1" "$2") ]]; do
        $making || return
        # Once more after the end of the jobs.
        is_making || making=false
        if find_ended; then
            finish_part
        else
            sleep 1
        fi
    done
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

# Sets other_rows.
select_other_rows() {
    local other
    for other in "${rows[@]}"; do
        if [[ $other == "$row" ]] && { wants library || ! is_foreign "$row"; }; then
            continue
        elif is_foreign "$other"; then
            ! wants aarch64 || other_rows+=("$other")
        elif wants images; then
            other_rows+=("$other")
        fi
    done
}

# Runs the build without the checks of the group "checks", and with one test: only then does Surefire fetch its provider, which the other parts need. The
# groups that do not test the library take the build of a test run before.
build_for_tests() {
    local begun=$test_output/.rxe-begun built=$test_output/.rxe-built-for-tests
    wants library || ! is_up_to_date "$built" || { wants aarch64 && ! has_foreign_shim; } || return 0
    touch "$begun"
    start_part build "the build" mvn -B -ntp verify -Dspotless.check.skip=true -Dmaven.javadoc.skip=true -DskipITs -Dstand-in.skip=true \
        -Dtest=CheckTest
    end_part
    # The programs show a sanitizer nothing that the tests of the library do not.
    if ! $sanitize && ((${#failures[@]} == 0)); then
        start_part build-ratis "the build of the channels and the transport of Ratis" mvn -B -ntp "${ratis[@]}" package -DskipTests
        end_part
    fi
    if ! $sanitize && ((${#failures[@]} == 0)); then
        start_part build-apps "the build of the examples, tools and benchmarks" mvn -B -ntp "${apps[@]}" process-test-classes
        end_part
    fi
    ((${#failures[@]} == 0)) || return 0
    mv "$begun" "$built"
    $sanitize || touch -r "$built" "$test_output/.rxe-built"
}

# Runs the parts in parallel, the long ones first.
test_in_parts() {
    local other other_bed
    # More options for the guests of a part, and for Maven.
    local -a run_options=() part_options=()
    ! wants library || start_library_parts
    ! wants ratis || start_ratis_parts ratis "ratis & !ratis-suite"
    ! wants ratis-suite || start_ratis_parts ratis-suite ratis-suite
    ! wants bed || start_booting_parts bed
    if wants examples; then
        part_options=("-Dit.wanted=processes & !library")
        start_project_part apps examples "$row" "$(booting_bed examples)" "!($qemu_tags)"
        part_options=("-Dit.wanted=any() | none()")
        # Debian's kernels for QEMU and KVM have no module of soft-iWARP.
        if [[ $(booting_bed examples) == uml ]]; then
            on_siw start_project_part apps examples-siw "$row" uml "$siw_tags"
        else
            summaries+=("tests of the programs on soft-iWARP: not run, they need user-mode Linux")
        fi
        part_options=()
    fi
    ! wants consumers || start_booting_parts consumers
    if wants pmem; then
        run_options=(--cpus 1)
        part_options=("-Dit.wanted=any() | none()" "${one_at_a_time[@]}")
        start_project_part apps pmem "$row" "$(qemu_bed)" "$pmem_tags"
        run_options=() part_options=()
    fi
    for other in hosts power-cuts; do
        ! wants "$other" || start_booting_parts "$other"
    done
    ! wants soak || start_soak_parts
    if wants consumers; then
        start_part packaging "forms of applications on the stand-in" \
            mvn -o -B -ntp surefire:test@stand-in "-Dstand-in.groups=stand-in & consumers"
        part_options=("-Dnewer-jdk.groups=newer-jdk & consumers")
        start_guest_part packaging-newer "$row" "$(booting_bed consumers)" "any() | none()" newer-jdk-tests
        part_options=(-Dit.wanted=consumers)
        start_guest_part documents "$row" "$(booting_bed consumers)" "any() | none()" process-tests
        part_options=()
    fi
    ! wants checks || start_part checks "format of the sources, and Javadoc" \
        mvn -B -ntp spotless:check@format javadoc:javadoc-no-fork@javadoc-check
    for other in "${other_rows[@]}"; do
        if is_foreign "$other" && ! $all_rows; then
            run_options=(--cpus 1)
            start_guest_part "$other" "$other" qemu "$foreign_tag" device-tests
            run_options=()
            continue
        fi
        other_bed=qemu
        is_foreign "$other" || other_bed=$(qemu_bed)
        $sanitize || part_options=("-Dit.wanted=any() | none()")
        start_whole_guest_part "$other" "$other_bed"
        part_options=()
    done
    end_parts
}

# Waits for the end of all parts under way.
end_parts() {
    while ((${#part_of_job[@]} > 0)); do
        end_part
    done
}

# Starts the long tests: on a device, and the fuzzer.
start_soak_parts() {
    part_options=(-Dit.wanted=soak)
    start_guest_part soak "$row" "$(booting_bed soak)" "any() | none()" device-tests process-tests
    start_project_part ratis soak-channel "$row" "$(booting_bed soak)" "any() | none()"
    part_options=()
    start_part fuzz "fuzzed parsers" mvn -o -B -ntp "${apps[@]}" surefire:test@default-test \
        -Dtest.groups=soak -Dtest.excluded=
}

# Starts tests of Ratis itself. $1: the group, $2: an expression of the tags of its tests.
start_ratis_parts() {
    part_options=("-Dit.wanted=$2")
    start_project_part ratis "$1" "$row" "$(booting_bed examples)" "!($qemu_tags)"
    if [[ $(booting_bed examples) == uml ]]; then
        on_siw start_project_part ratis "$1-siw" "$row" uml "$siw_tags"
    else
        summaries+=("tests of Ratis on soft-iWARP: not run, they need user-mode Linux")
    fi
    part_options=()
}

# Starts the parts of the group library: the long ones first, or, while a guest is made, those that need no guest.
start_library_parts() {
    local part
    local -a on_host=(host stand-in host-apps stand-in-ratis stand-in-virtual) on_device=(whole)
    case $bed:$sanitize in
    auto:true) ;;
    auto:*)
        on_device=(uml uml-apps qemu siw uml-processes uml-ratis siw-ratis)
        # The tests that need QEMU do not wait for the kernel of user-mode Linux.
        ((${#making_jobs[@]} == 0)) || on_device=(qemu uml uml-apps siw uml-processes uml-ratis siw-ratis)
        ;;
    uml:*)
        on_device=(uml uml-apps siw uml-processes uml-ratis siw-ratis)
        summaries+=("tests that need QEMU ($qemu_tags): not run")
        ;;
    host:*) on_device=(host-device host-device-apps host-device-ratis) ;;
    esac
    if ((${#making_jobs[@]} > 0)); then
        set -- "${on_host[@]}" "${on_device[@]}"
    else
        set -- "${on_device[@]:0:2}" "${on_host[@]}" "${on_device[@]:2}"
    fi
    for part; do
        # The programs show a sanitizer nothing that the tests of the library do not.
        ! $sanitize || [[ $part != *-apps && $part != *-ratis ]] || continue
        start_library_part "$part"
    done
}

# Starts a part of the group library. $1: its name, or "whole" for all device tests in guests of one kind.
start_library_part() {
    case $1 in
    host) start_part host "tests without a device" mvn -o -B -ntp surefire:test@default-test ;;
    host-apps)
        start_part host-apps "tests of the examples, tools and benchmarks without a device" \
            mvn -o -B -ntp "${apps[@]}" surefire:test@default-test
        ;;
    stand-in-ratis)
        start_part stand-in-ratis "channels on the stand-in" mvn -o -B -ntp "${ratis[@]}" surefire:test@stand-in
        ;;
    stand-in) start_part stand-in "device tests on the stand-in" mvn -o -B -ntp surefire:test@stand-in ;;
    stand-in-virtual) start_virtual_part ;;
    uml) start_guest_part uml "$row" uml "!($qemu_tags)" device-tests newer-jdk-tests ;;
    uml-processes) start_guest_part uml-processes "$row" uml "!($qemu_tags)" process-tests ;;
    siw) on_siw start_guest_part siw "$row" uml "$siw_tags" device-tests ;;
    uml-apps) start_project_part apps uml-apps "$row" uml "!($qemu_tags)" ;;
    uml-ratis) start_project_part ratis uml-ratis "$row" uml "!($qemu_tags)" ;;
    siw-ratis) on_siw start_project_part ratis siw-ratis "$row" uml "$siw_tags" ;;
    qemu)
        run_options=(--cpus 1)
        start_guest_part qemu "$row" qemu "$qemu_tags" device-tests
        run_options=()
        ;;
    whole) start_whole_guest_part "$row" "${bed/auto/qemu}" ;;
    host-device) start_device_part host-device "device tests on $host_device" "-Drpma.address=$host_address" -- "${device_executions[@]}" ;;
    host-device-apps | host-device-ratis)
        local -n chosen=${1##*-}
        project=("${chosen[@]}")
        start_device_part "$1" "device tests of ${project[1]%/pom.xml} on $host_device" \
            "-Drpma.address=$host_address" -- device-tests
        project=()
        ;;
    esac
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

# Starts device tests of another project in a guest. $1: apps or ratis, $2: name, $3: row, $4: bed, $5: an expression of tags.
start_project_part() {
    local -n chosen=$1
    project=("${chosen[@]}")
    start_guest_part "${@:2:4}" device-tests
    project=()
}

# Calls a function that starts a part, for a guest with soft-iWARP.
on_siw() {
    local -a run_options=(--type siw)
    "$@"
}

# Starts all device tests in guests of one kind. $1: row, $2: bed.
start_whole_guest_part() {
    local name=$2
    local -a executions=("${device_executions[@]}" newer-jdk-tests)
    [[ $1 == "$row" ]] || name=$1
    # Tests that start processes take minutes under this emulation. They and those with a newer JDK call the same C code, which is
    # all that a sanitizer sees.
    ! is_foreign "$1" && ! $sanitize || executions=(device-tests)
    start_guest_part "$name" "$1" "$2" "any() | none()" "${executions[@]}"
    if ! $sanitize && ! is_foreign "$1"; then
        start_project_part apps "$name-apps" "$1" "$2" "any() | none()"
        # Only the tests of channels: Ratis's own take hours.
        local -a part_options=()
        start_project_part ratis "$name-ratis" "$1" "$2" "any() | none()"
    fi
}

# Starts a part whose tests run in guests: one guest for each execution. Maven runs on this host, and starts "java" in the guest.
# Reads part_options and project.
# $1: name, $2: row, $3: bed, $4: an expression of tags, $5...: executions of Failsafe.
start_guest_part() {
    local name=$1 guest_row=$2 guest_bed=$3 tags=$4
    local -a options=("${part_options[@]}")
    shift 4
    # Debian 12 has only the oldest JDK that is supported.
    if [[ $guest_row == bookworm ]]; then
        set -- "${@/newer-jdk-tests/}"
        tags="($tags) & !newer-jdk"
        [[ -n ${*// /} ]] || return 0
    fi
    if ! await_guest "$guest_row" "$guest_bed"; then
        failures+=("device tests in the guest '$name': not run, because the guest could not be made: see above")
        return
    fi
    make_guest_java "$name" "$guest_row" "$guest_bed"
    [[ $guest_bed != uml ]] || options+=("${two_at_a_time[@]}")
    if is_foreign "$guest_row"; then
        if ! build_foreign_libraries "$test_parts/$name" >&2; then
            failures+=("device tests in the guest '$name': not run, because their libraries could not be built: see above")
            return
        fi
        options+=("-Dinterposer=$test_parts/$name/libinterposer.so" "-Dposts=$test_parts/$name/libposts.so")
    fi
    start_device_part "$name" "device tests in the guest '$name' ($guest_row on $guest_bed)" \
        "-Djvm=$test_parts/$name/bin/java" "-Dit.preload=" "-Dit.tags=$tags" "${options[@]}" -- "$@"
}

# Compiles the libraries that tests preload, for a guest with another processor. $1: the directory for them.
build_foreign_libraries() {
    local -x CC=aarch64-linux-gnu-gcc
    "$checkout/src/test/c/interposer/build" "$1/libinterposer.so" &&
        "$checkout/src/test/c/posts/build" "$1/libposts.so" "-L$checkout/target/nar/aarch64-stubs"
}

# Makes the program "java" of a part: it runs java in a guest. Surefire takes no other name. Libraries to preload and options of
# sanitizers are for the guest. Reads run_options.
make_guest_java() {
    local java=$test_parts/$1/bin/java
    local -a command=("$rxe" run --bed "$3" --image "$2" --memory "$memory"
        --times "$test_parts/$1/times" "${run_options[@]}" -- env)
    local program=java
    ! $sanitize || command+=("LD_PRELOAD=libasan.so.8")
    # Few mappings on this host, which permits 65,530 of them for a process: see check_mappings in uml.sh.
    # Each page that a process touches takes about 0.1 ms. Relocated, the JDK's archive of classes touches 16 MB.
    [[ $3 != uml ]] || program="java -Xms96m -Xmx384m -XX:+AlwaysPreTouch -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0"
    # The second compiler takes longer in these guests than its code saves. The JVM of the long tests has it.
    [[ $3 != uml || $1 == soak* ]] && ! is_foreign "$2" || program+=" -XX:TieredStopAtLevel=1"
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
    start_part "$name" "$title" mvn -o -B -ntp "${project[@]}" "${goals[@]}" "${options[@]}" -Drpma.device.required=true
}

# Starts a group whose tests boot and end guests themselves. $1: its name, which is the tag of its tests.
start_booting_parts() {
    [[ $1 == power-cuts ]] || start_booting_part "$1" "$1"
    [[ $1 != bed ]] || return 0
    project=("${apps[@]}")
    start_booting_part "$1" "$1-apps"
    project=()
}

# $1: the group, $2: the name of the part.
start_booting_part() {
    if ! await_guest "${rows[0]}" "$(booting_bed "$1")"; then
        failures+=("tests of the group '$1': not run, because the guests could not be made: see above")
        return
    fi
    start_part "$2" "tests of the group '$1'" mvn -o -B -ntp "${project[@]}" failsafe:integration-test@guest-tests \
        failsafe:verify@guest-tests "-Dguest.groups=$1"
}

# Starts a part, when there is room for it. $1: name, $2: title; then Maven's command line.
start_part() {
    local name=$1 output
    local -a priority=()
    part_title[$name]=$2
    shift 2
    part_command[$name]=${*@Q}
    while ((${#part_of_job[@]} >= parts_at_once)); do
        end_part
    done
    say "testing: ${part_title[$name]} (log: $(part_log "$name"))"
    mkdir -p "$test_parts/$name"
    mkfifo "$test_parts/$name/output"
    show_part "$name" <"$test_parts/$name/output" &
    part_reader[$name]=$!
    exec {output}>"$test_parts/$name/output"
    rm "$test_parts/$name/output"
    part_begun[$name]=$SECONDS
    # The longest parts wait for the guests.
    [[ $name == build* ]] || ! is_making || priority=(nice -n 19)
    # If this script is killed, timeout is killed, and with it Maven. The JVMs of the tests see the end of their input and end.
    start_job "${priority[@]}" env "RPMA_CRASHES=$test_parts/$name/crashes" timeout --kill-after=10 "$time_limit" \
        setpriv --pdeathsig KILL "$@" "-Dtest.part=parts/$name" "${test_options[@]}" </dev/null >&"$output" 2>&1
    exec {output}>&-
    part_of_job[$job]=$name
}

# Prints the name of a part's log, for a person in the checkout.
part_log() {
    echo "${test_parts#"$checkout"/}/$1/log"
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
    until find_ended; do
        sleep 0.5
    done
    finish_part
}

# Sets ended to the job of a part that has ended, or fails. "wait -n" does not report a job that a signal has ended between two waits.
find_ended() {
    for ended in "${!part_of_job[@]}"; do
        alive "$ended" || return 0
    done
    return 1
}

# Counts the tests of the part whose job has ended. Reads: ended.
finish_part() {
    local name=${part_of_job[$ended]} status=0
    wait "$ended" 2>/dev/null || status=$?
    # After the time limit, guests of the part are still ending.
    timeout 10 bash -c "while kill -0 -- -$ended; do sleep 0.1; done" 2>/dev/null || true
    unset "part_of_job[$ended]" "running[$ended]"
    # Status 127: bash has forgotten the reader, which has ended.
    wait "${part_reader[$name]}" 2>/dev/null || (($? == 127))
    part_seconds[$name]=$((SECONDS - part_begun[$name]))
    ! repeats_part "$name" || return 0
    case $status in
    0) ;;
    124 | 137) failures+=("${part_title[$name]}: ended by the time limit of $time_limit s: see $(part_log "$name")") ;;
    *) failures+=("${part_title[$name]}: ended with status $status: see $(part_log "$name")") ;;
    esac
    case $name in
    build* | checks) ;;
    host | host-apps | fuzz) count_tests "$name" surefire-reports "${part_title[$name]}" ;;
    stand-in* | packaging) count_tests "$name" stand-in-reports "${part_title[$name]}" no-skips ;;
    *) count_tests "$name" failsafe-reports "${part_title[$name]}" no-skips ;;
    esac
    find_reports "$name"
}

# Starts a part again in which the emulator has crashed, unless a part of this run was repeated before. Keeps its output, except for
# the crashes of JVMs that have no sign of the emulator: they remain failures.
repeats_part() {
    local name=$1 file found sign= kept
    local -a command signs=()
    [[ $name != build* ]] || return
    if [[ -s $test_parts/$name/crashes ]]; then
        sign=$(head -n 1 "$test_parts/$name/crashes")
    fi
    while IFS= read -r file; do
        if found=$(impossible_jvm_state "$file"); then
            sign=$found
            signs+=("$file")
        fi
    done < <(crash_files "$test_parts/$name")
    [[ -n $sign ]] || return
    if [[ -n $repeated ]]; then
        failures+=("${part_title[$name]}: the emulator has crashed a second time in this run: $sign")
        return 1
    fi
    kept=$test_parts/$name/crashed
    mkdir "$kept"
    mv "$test_parts/$name"/{log,crashes,times,*-reports,profile-*.tsv,sanitizer.*} "${signs[@]}" "$kept" 2>/dev/null || true
    repeated="${part_title[$name]}: ran again, because the emulator of its guest crashed ($sign); the output of the first run is in ${kept#"$checkout"/}"
    say "$repeated"
    eval "command=(${part_command[$name]})"
    start_part "$name" "${part_title[$name]}" "${command[@]}"
}

# Adds up the tests of a part. $4: no-skips if a skipped test is a failure.
count_tests() {
    local reports=$test_parts/$1/$2 title=$3 skips=${4:-} run failed errors skipped
    read -r run failed errors skipped < <(sum_reports "$reports")
    summaries+=("$title: Tests run: $run, Failures: $failed, Errors: $errors, Skipped: $skipped")
    total_run=$((total_run + run)) total_failed=$((total_failed + failed + errors)) total_skipped=$((total_skipped + skipped))
    # After another failure it is expected that no test was run.
    ((run > 0 || ${#failures[@]} > 0)) || failures+=("$title: none was run")
    if ((failed + errors > 0)); then
        failures+=("$title: $((failed + errors)) failed")
        name_failed_tests "$reports" "$title"
    fi
    [[ -z $skips ]] || ((skipped == 0)) || failures+=("$title: $skipped skipped")
}

# Adds a line for each test that failed: class, method, the beginning of its message, and the file with its output.
name_failed_tests() {
    local line
    while IFS= read -r line; do
        failures+=("$2: $line")
    done < <(awk -v checkout="$checkout/" '
        function value(name) {
            return match($0, " " name "=\"[^\"]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : ""
        }
        FNR == 1 { file = index(FILENAME, checkout) == 1 ? substr(FILENAME, length(checkout) + 1) : FILENAME }
        /<testcase / { test = value("classname") "." value("name") }
        /<(failure|error)[ >]/ { print test ": " value("type") ": " substr(value("message"), 1, 2000) " (see " file ")" }' \
        "$1"/TEST-*.xml | sed 's/&#10;/ /g; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&apos;/'"'"'/g; s/&amp;/\&/g')
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
    while IFS= read -r file; do
        add_report "${part_title[$1]}" "$file"
    done < <(
        crash_files "$test_parts/$1"
        find "$test_parts/$1" -maxdepth 1 -name 'sanitizer.*'
    )
}

# Prints the files of the JVMs that have crashed in this run. $1: the directory of the files.
crash_files() {
    find "$1" -maxdepth 1 -name 'hs_err_*.log' -newer "$test_parts/begun"
}

# Adds a report of a part, with its beginning, because a run in CI keeps the output alone. $1: title, $2: file.
add_report() {
    [[ -z ${reported[$2]-} ]] || return 0
    reported[$2]=1
    failures+=("$1: see $2:"$'\n'"$(head -c 2000 "$2" | sed 's/^/  | /' || true)")
}

report() {
    local passed=passed failure file
    # JVMs that were started without the options of the tests.
    while IFS= read -r file; do
        add_report "a JVM in the checkout" "$file"
    done < <(crash_files "$checkout")
    ((total_run > 0 || ${#failures[@]} > 0)) || [[ ${wanted_groups[*]} == checks ]] || failures+=("no test was run")
    ((${#failures[@]} == 0)) || passed=FAILED
    print_profile
    echo
    printf '%s\n' "${summaries[@]}"
    [[ -z $repeated ]] || echo "NOTE: $repeated"
    for failure in "${failures[@]}"; do
        printf 'FAILED: %s\n' "$failure"
    done
    echo "$program_name test: $passed: $((total_run - total_failed - total_skipped)) tests passed, $total_failed failed," \
        "$total_skipped skipped in $SECONDS s (${wanted_groups[*]}$(! $sanitize || echo ", sanitized"));" \
        "$(describe_checkout); $(describe_machine)"
    [[ $passed == passed ]]
}

# Prints the version of the checkout.
describe_checkout() {
    local version commit
    version=$(sed -n 's|^  <version>\(.*\)</version>|\1|p' "$checkout/pom.xml" | head -n 1)
    commit=$(git -C "$checkout" describe --always --dirty 2>/dev/null) || commit=
    echo "rpma-java $version${commit:+ ($commit)}"
}

# Prints the machine and the versions that matter for the tests.
describe_machine() {
    echo "$(nproc) x$(sed -n 's/^model name[[:space:]]*:/ /p' /proc/cpuinfo | head -n 1 | tr -s ' ')," \
        "$(awk '/^MemTotal:/ { printf "%.0f GB", $2 / 1048576 }' /proc/meminfo), $(os_field PRETTY_NAME), Linux $(uname -r)," \
        "JDK $("${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/\1/p'), $(describe_places)"
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
