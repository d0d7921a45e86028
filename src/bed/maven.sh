# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Maven on this host: the local repository, and the build.
#
# Reads: checkout.

# Prints the home directory of Maven's JVM: Java takes it from the user database, and HOME can be another directory.
java_home_directory() {
    local options found
    options=" ${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-} ${MAVEN_OPTS:-} "
    # Java uses the last one.
    if [[ $options =~ .*[[:space:]]-Duser\.home=([^[:space:]]+) ]]; then
        echo "${BASH_REMATCH[1]}"
        return
    fi
    found=$(getent passwd "$UID" | cut -d : -f 6) || found=
    # Java too takes HOME instead of "/".
    if ((${#found} < 2)); then
        found=$HOME
    fi
    echo "$found"
}

# Prints the directory of this user's local repository, which the guest reads.
local_repository() {
    local options home found
    options=" ${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-} ${MAVEN_OPTS:-} ${MAVEN_ARGS:-} "
    if [[ $options =~ .*[[:space:]]-Dmaven\.repo\.local=([^[:space:]]+) ]]; then
        echo "${BASH_REMATCH[1]}"
        return
    fi
    home=$(java_home_directory)
    # The settings that Maven has as an example contain a repository in a comment.
    found=$(LC_ALL=C sed -nz 's,<!--\([^-]\|-[^-]\)*-->,,g
        s,.*<localRepository>[[:space:]]*\([^<]*[^<[:space:]]\)[[:space:]]*</localRepository>.*,\1,p' "$home/.m2/settings.xml" 2>/dev/null) || found=
    found=${found//'${user.home}'/"$home"}
    echo "${found:-$home/.m2/repository}"
}

# Reads Maven's output: writes it to a log, and the progress to the terminal.
show_maven() {
    local line started=$SECONDS goal=starting downloads=0
    while IFS= read -r line; do
        printf '%s\n' "$line"
        on_terminal || continue
        case $line in
        *"Downloaded from "*) downloads=$((downloads + 1)) ;;
        "[INFO] --- "*)
            goal=${line#"[INFO] --- "}
            goal=${goal%% (*}
            ;;
        esac
        show_progress "  $goal, $((SECONDS - started)) s, $downloads files fetched"
    done >"$1"
    end_progress
}

has_foreign_shim() {
    [[ -e $checkout/target/classes/META-INF/native/linux-aarch64/librpma-java.so ]]
}

# True if no file is newer than another one. $1: the other one, the rest: files and directories.
is_newest() {
    local mark=$1
    shift
    [[ -e $mark && -z $(find "$@" -type f -newer "$mark" ! -name rxe \
        \( ! -path "$checkout/src/bed/*" -o -name '*.java' \) -print -quit) ]]
}

# Prints the path of a jar of the build. $1: a pattern of its name.
built_jar() {
    find "$checkout/target" -maxdepth 1 -name "$1" 2>/dev/null | head -n 1
}

# True if no input of the build is newer than a file, and the build's output is there. $1: the file.
is_up_to_date() {
    [[ -n $(built_jar '*.jar') && -d $checkout/target/apps/lib ]] &&
        is_newest "$1" "$checkout/pom.xml" "$checkout/src" "$checkout/native"
}

# True if the build has made the shim for the processor of the row, and its output is up to date, whoever has called Maven.
is_built() {
    { ! is_foreign "$row" || has_foreign_shim; } &&
        { is_up_to_date "$checkout/target/.rxe-built" || is_up_to_date "$(built_jar '*-tools.jar')"; }
}

# As is_built, for the library only. Its jar has a version and no further word in its name.
library_is_built() {
    { ! is_foreign "$row" || has_foreign_shim; } &&
        { is_up_to_date "$checkout/target/.rxe-built" ||
            is_newest "$(built_jar 'rpma-java-[0-9]*[0-9T].jar')" "$checkout/pom.xml" "$checkout/src/main" "$checkout/native"; }
}

# Sets native_options to Maven's options for the directory of the native parts of a build. Neither NAR nor LD_PRELOAD takes a path
# with blanks, so they get a link to it. $1: the directory of the build.
set_native_options() {
    local link
    native_options=()
    [[ $1 == *[[:space:]]* ]] || return 0
    link=$(mktemp -d /tmp/rpma-java.XXXXXXXX) || die "can't write /tmp, where NAR needs a path without blanks"
    at_exit+=("rm -rf $link")
    ln -s "$1" "$link/target"
    native_options=("-Dnative.directory=$link/target/nar")
}

# Runs Maven for the library, and then for the programs that use it. Arguments: Maven's.
build_both='mvn "$@" && exec mvn -f src/apps/pom.xml "$@"'

# Builds the library, and the examples, tools and benchmarks, without tests.
build() {
    local log=$checkout/target/build.log begun=$checkout/target/.rxe-begun started=$SECONDS status=0 output progress
    local native_options
    require_for_build
    ! is_foreign "$row" || require_for_foreign_build
    ! is_built || return 0
    mkdir -p "$checkout/target" 2>/dev/null && touch "$begun" 2>/dev/null ||
        die "can't write $checkout/target: the build needs a checkout that you can write"
    say "building (log: target/build.log)"
    set_native_options "$checkout/target"
    exec {output}> >(show_maven "$log")
    progress=$!
    bounded env -C "$checkout" bash -c "$build_both" build package -B -DskipTests "${native_options[@]}" </dev/null >&"$output" 2>&1 || status=$?
    exec {output}>&-
    wait "$progress"
    if ((status != 0)); then
        grep -E '^\[ERROR\]|^\[WARNING\]' "$log" | head -n 30 >&2
        say "the build failed: see above, and target/build.log"
        exit "$status"
    fi
    mv "$begun" "$checkout/target/.rxe-built"
    say "built ($((SECONDS - started)) s)"
}
