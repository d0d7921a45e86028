# shellcheck shell=bash
# native/rxe test: the tests without a device on this host, the others on a device, and what came of them.

# What failed, in words, for the last line.
failures=()
# One line for each part.
summaries=()
# What the options add to Maven's command line.
test_options=()
# Where the build and its reports are.
test_output=

command_test() {
    ((${#arguments[@]} == 0)) || usage_error "test takes no argument: ${arguments[0]}"
    if $all_rows; then
        test_options+=(-Drpma.long=true -Dit.timeout=6000)
    fi
    test_output=$checkout/target
    if $sanitize; then
        test_options+=(-Psanitize)
        test_output=$checkout/target/sanitize
    fi
    require_for_build
    mkdir -p "$test_output" 2>/dev/null && [[ -w $test_output ]] ||
        die "can't write $test_output: the tests need a checkout that you can write"
    remove_crash_reports
    if ! $force_guest && find_host_device; then
        is_soft "$host_device" || [[ -n $device ]] ||
            die "this host has $host_device: name it with --device $host_device to test on it," \
                "or test in a guest with --guest"
        test_on_host
    elif ! $force_guest && make_host_device; then
        test_on_host
    else
        test_in_guests
    fi
    report
}

# Those that boot two guests as two hosts, and end them.
test_two_hosts() {
    if $sanitize; then
        summaries+=("tests with two hosts: not run with sanitizers")
        return
    fi
    start_part failsafe-reports
    maven_two_hosts || part_failed "tests with two hosts" $?
    count_part "tests with two hosts" failsafe-reports no-skips
    keep_reports two-hosts
}

test_on_host() {
    start_part surefire-reports failsafe-reports
    maven_here -Drpma.device.required=true -Drpma.address="$host_address" || part_failed "tests on this host" $?
    count_part "tests without a device" surefire-reports
    count_part "device tests on $host_device" failsafe-reports no-skips
    keep_reports "$host_device"
    require_for_guest
    test_two_hosts
}

test_in_guests() {
    local test_row
    local -a test_rows=("$row")
    ! $all_rows || test_rows=("${rows[@]}")
    require_for_guest
    start_part surefire-reports failsafe-reports
    maven_here || part_failed "tests without a device" $?
    count_part "tests without a device" surefire-reports
    if ((${#failures[@]} > 0)); then
        summaries+=("device tests and tests with two hosts: not run, because those without a device failed")
        return
    fi
    provide_guest_maven
    for test_row in "${test_rows[@]}"; do
        start_part failsafe-reports
        maven_in_guest "$test_row" || part_failed "device tests on $test_row" $?
        count_part "device tests on $test_row" failsafe-reports no-skips
        keep_reports "$test_row"
    done
    test_two_hosts
}

# What an earlier run left must not be counted.
remove_crash_reports() {
    rm -f "$test_output"/hs_err_*.log "$checkout"/hs_err_*.log "$test_output"/sanitizer.*
}

# Nor what an earlier part left.
start_part() {
    local reports
    for reports in "$@"; do
        rm -rf "${test_output:?}/$reports"
    done
}

# Keeps the device tests' reports of a part from the next one.
keep_reports() {
    rm -rf "$test_output/failsafe-reports-$1"
    [[ ! -d $test_output/failsafe-reports ]] || cp -r "$test_output/failsafe-reports" "$test_output/failsafe-reports-$1"
}

# Builds, and runs the tests without a device; those on a device skip themselves where there is none.
maven_here() {
    say "building and testing on this host"
    limited env -C "$checkout" mvn -B -ntp verify "${test_options[@]}" "$@" </dev/null
}

# One Maven with two goals: everything else took place on the host. A process of its own, so that what ends the guest
# is a status here.
maven_in_guest() {
    say "testing in the $1 guest"
    supervise "$native/rxe" run --guest --image "$1" --memory "$memory" --time-limit "$time_limit" -- \
        mvn -o -B "-Dmaven.repo.local=$(local_repository)" \
        -Daether.enhancedLocalRepository.trackingFilename=any-repository \
        failsafe:integration-test@device-tests failsafe:verify@device-tests \
        -Drpma.device.required=true "${test_options[@]}" </dev/null
}

maven_two_hosts() {
    say "testing with two guests as two hosts"
    limited env -C "$checkout" mvn -o -B -ntp failsafe:integration-test@two-host-tests failsafe:verify@two-host-tests \
        "${test_options[@]}" </dev/null
}

part_failed() {
    case $2 in
    124) failures+=("$1: time-out") ;;
    *) failures+=("$1: ended with status $2") ;;
    esac
}

# Adds up the reports of a part. $3: no-skips where a skipped test means that there was no device.
count_part() {
    local name=$1 reports=$test_output/$2 skips=${3:-} run failed errors skipped crash
    read -r run failed errors skipped < <(count_reports "$reports")
    summaries+=("$name: Tests run: $run, Failures: $failed, Errors: $errors, Skipped: $skipped")
    # With a failure that has been named already this is no news.
    ((run > 0 || ${#failures[@]} > 0)) || failures+=("$name: none was run")
    ((failed + errors == 0)) || failures+=("$name: $((failed + errors)) failed")
    [[ -z $skips ]] || ((skipped == 0)) || failures+=("$name: $skipped skipped")
    for crash in "$test_output"/hs_err_*.log "$checkout"/hs_err_*.log; do
        add_crash "$crash" "$name: a JVM crashed, see"
    done
    # Leaks are found when a JVM has ended, so that no test can.
    for crash in "$test_output"/sanitizer.*; do
        add_crash "$crash" "$name: a sanitizer has found something, see"
    done
}

# A report of a crash is a failure of the part after which it is there first.
add_crash() {
    [[ -e $1 && ! " ${failures[*]}" == *" $1"* ]] || return 0
    failures+=("$2 $1")
}

# Prints the sums of tests, failures, errors and skipped in a directory of JUnit reports.
count_reports() {
    cat "$1"/TEST-*.xml 2>/dev/null | grep -o '<testsuite [^>]*>' |
        awk '
            function value(name) {
                return match($0, " " name "=\"[0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : 0
            }
            { run += value("tests"); failed += value("failures"); errors += value("errors"); skipped += value("skipped") }
            END { print run + 0, failed + 0, errors + 0, skipped + 0 }'
}

report() {
    echo
    printf '%s\n' "${summaries[@]}"
    if ((${#failures[@]} > 0)); then
        printf 'FAILED: %s\n' "${failures[@]}"
        exit 1
    fi
    echo "all tests passed"
}
