# shellcheck shell=bash
# The rows of guests, and the cache of their images: finds one, or has it made by build-image.
#
# Reads: cache, softroce. Sets: image, row_suite, row_java_home, row_packages.

rows=(trixie bookworm)

# What is in a row besides Debian's minimal system: the package list is all that differs.
select_row() {
    local jdk
    case $1 in
    trixie) row_suite=trixie jdk=25 ;;
    bookworm) row_suite=bookworm jdk=17 ;;
    esac
    row_java_home=/usr/lib/jvm/java-$jdk-openjdk-amd64
    row_packages=librpma0,rdma-core,ibverbs-providers,ibverbs-utils,rdmacm-utils,iproute2,ndctl,kmod,e2fsprogs
    row_packages+=,openjdk-$jdk-jdk-headless,libasan8,libubsan1
    # Some 135 packages, each fetched, unpacked and configured.
    row_items=480
}

image_path() {
    local key
    key=$({
        echo "$row $row_packages"
        cat "$softroce/build-image" "$softroce/initramfs-init"
    } | sha256sum | cut -c 1-12)
    echo "$cache/image-$row-$key"
}

# True for a directory that no living script holds. One without a lock is what an interrupted removal left.
is_unused() {
    [[ -d $1 ]] && { [[ ! -e $1/lock ]] || flock -n "$1/lock" true; }
}

# Directories whose makers are dead: half-built images and the runs of killed scripts. With the cache locked.
remove_leftovers() {
    local directory
    for directory in "$cache"/image.???????? "$cache"/run.???????? "$cache"/maven.????????; do
        if is_unused "$directory"; then
            unlock_tree "$directory"
            remove_tree "$directory"
        fi
    done
}

# Images of this row that other versions of these scripts made, once nobody has used them for a week: another checkout may
# still want them until then. With the cache locked.
remove_old_images() {
    local used directory doomed
    while IFS= read -r used; do
        directory=${used%/lock}
        if [[ $directory != "$image" ]] && is_unused "$directory"; then
            say "removing a guest that was not used for a week: $directory"
            # Under a name that the next script would go on to remove.
            doomed=$(mktemp -du "$cache/image.XXXXXXXX")
            mv -T "$directory" "$doomed"
            remove_tree "$doomed"
        fi
    done < <(find "$cache" -mindepth 2 -maxdepth 2 -path "$cache/image-$row-*/lock" -mtime +6)
}

# Sets image and holds it, so that it stays, if it has been made.
hold_image() {
    local held
    remove_leftovers
    image=$(image_path)
    remove_old_images
    [[ -d $image ]] || return 0
    exec {held}<"$image/lock"
    flock -s "$held"
    touch -c "$image/lock" 2>/dev/null || true
}

# A file system that a killed debootstrap left mounted in its root must not be walked into.
unlock_tree() {
    local mounted
    while read -r _ mounted _; do
        if [[ $mounted == "$1"/* ]]; then
            as_root "unmounting $mounted" umount -l "$mounted"
        fi
    done </proc/self/mounts
}

remove_tree() {
    rm -rf --one-file-system "$1" 2>/dev/null || as_root "removing $1" rm -rf --one-file-system "$1"
}

# The mirror that this host's own package sources name, if they are Debian's.
debian_mirror() {
    local mirror=
    if command -v apt-get >/dev/null; then
        # shellcheck disable=SC2016 # apt's own variables
        mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
            awk '$1 == "Debian" && $2 == "Debian" && $3 == "main" { print $4; exit }')
    fi
    mirror=${mirror%/}
    if [[ $mirror == http://* || $mirror == https://* ]]; then
        echo "$mirror"
    else
        sed -n 's/^DEF_MIRROR="\(.*\)"$/\1/p' "$(command -v debootstrap)"
    fi
}

check_mirror() {
    local url=$1/dists/$row_suite/InRelease
    supervise wget -q -T 20 -t 2 -O /dev/null "$url" 2>/dev/null ||
        die "no network: can't fetch $url; connect this machine, or set http_proxy if it needs a proxy"
}

# Free space in MB where $1 will be.
free_space() {
    df --output=avail -B1M "$1" | tail -n 1 | tr -d ' '
}

check_space() {
    local needed=$1 available
    available=$(free_space "$cache")
    ((available >= needed)) ||
        die "not enough disk space: $needed MB needed in $cache, $available MB free;" \
            "free some, or set RPMA_CACHE to a directory with more"
}

# Reads build-image's lines: each step, and on a terminal how far debootstrap is.
show_progress() {
    local kind text count=0 started=$SECONDS
    while read -r kind text; do
        case $kind in
        step)
            ! on_terminal || printf '\r\033[K' >&2
            say "$text ($((SECONDS - started)) s)"
            ;;
        item)
            count=$((count + 1))
            ! on_terminal || printf '\r\033[K  %3d%% %s, %d s' $((count * 100 / row_items)) "$text" \
                $((SECONDS - started)) >&2
            ;;
        # What bash says when a signal ends the builder.
        Terminated | Killed) ;;
        *) printf '  | %s %s\n' "$kind" "$text" >&2 ;;
        esac
    done
    ! on_terminal || printf '\r\033[K' >&2
}

# In namespaces of its own the builder's mounts and processes end with it, however it ends.
build_supervised() {
    local -a isolate=(unshare --mount --pid --fork --kill-child)
    local -a root=()
    local output progress status=0
    if ((EUID != 0)); then
        ask_for_root "making the guest's root file system"
        root=(sudo)
    fi
    "${root[@]}" "${isolate[@]}" true 2>/dev/null || isolate=()
    exec {output}> >(show_progress)
    progress=$!
    supervise "${root[@]}" "${isolate[@]}" bash "$softroce/build-image" "$@" 2>&"$output" </dev/null || status=$?
    exec {output}>&-
    wait "$progress"
    return "$status"
}

build_image() {
    local building mirror started=$SECONDS
    require_for_image
    check_space 2500
    mirror=$(debian_mirror)
    check_mirror "$mirror"
    say "making the $row guest once: Debian $row_suite with its kernel, librpma and a JDK, from $mirror"
    with_cache_locked make_locked_directory image
    building=$made_directory
    at_exit+=("remove_tree $(printf %q "$building")")
    chmod 755 "$building"
    if ! build_supervised "$building" "$row_suite" "$mirror" "$(id -u):$(id -g)" "$row_packages"; then
        say "can't make the guest; the end of its log:"
        tail -n 15 "$building/build.log" 2>/dev/null | sed 's/^/  | /' >&2
        exit 1
    fi
    with_cache_locked mv -T "$building" "$image"
    exec {made_lock}>&-
    say "the $row guest is ready ($((SECONDS - started)) s, $(du -sm "$image" | cut -f 1) MB in $image)"
}

# Sets image to the row's image, made now if there is none. Two scripts that need it wait for each other.
provide_image() {
    local lock
    select_row "$row"
    with_cache_locked hold_image
    [[ ! -d $image ]] || return 0
    exec {lock}>"$cache/lock-$row"
    if ! flock -n "$lock"; then
        say "waiting for another run that is making the $row guest"
        supervise flock "$lock"
    fi
    [[ -d $image ]] || build_image
    exec {lock}>&-
    with_cache_locked hold_image
}

# Removes what no run that is going on needs.
remove_cache() {
    local directory
    remove_leftovers
    if compgen -G "$cache/run.*" >/dev/null || compgen -G "$cache/image.*" >/dev/null; then
        die "$cache is in use: end the other runs first"
    fi
    for directory in "$cache"/image-* "$cache"/apache-maven-*; do
        [[ ! -d $directory ]] || remove_tree "$directory"
    done
    rm -f "$cache"/lock-* "$cache/lock" "$cache/install.log"
    rmdir --ignore-fail-on-non-empty "$cache"
}
