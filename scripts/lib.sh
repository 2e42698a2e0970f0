# shellcheck shell=bash
# Set-up shared by run.sh and test.sh: finds what this machine lacks, installs it with apt-get
# where root or password-less sudo allows, and otherwise says what to install and stops.
#
# A script calls need_* functions and then install_missing. Everything is found by looking at
# files and commands; the network is touched only when something really is missing.

# shellcheck disable=SC2034 # for the scripts that include this file
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Packages found missing by the last check.
missing=()

die() { # die MESSAGE...: could not run
  printf '%s\n' "$*" >&2
  exit 2
}

has_command() { command -v "$1" >/dev/null 2>&1; }

has_library() { # has_library SONAME: whether the dynamic linker would find it
  local ldconfig=ldconfig directory
  has_command ldconfig || ldconfig=/sbin/ldconfig
  # No pipe into grep -q: it would end ldconfig early, and pipefail would call that a failure.
  if grep -qF "$1 (" <<<"$("$ldconfig" -p 2>/dev/null)"; then return 0; fi
  local IFS=:
  for directory in ${LD_LIBRARY_PATH:-}; do
    if [[ -e $directory/$1 ]]; then return 0; fi
  done
  return 1
}

# The folders in which Vulkan's loader looks for manifests, one per line.
vulkan_folders() { # vulkan_folders icd.d|explicit_layer.d
  local base IFS=:
  for base in /etc /usr/local/etc "${XDG_DATA_HOME:-${HOME:-/root}/.local/share}" \
    ${XDG_DATA_DIRS:-/usr/local/share:/usr/share}; do
    printf '%s\n' "$base/vulkan/$1"
  done
}

vulkan_manifest() { # vulkan_manifest icd.d|explicit_layer.d PATTERN: prints the first one found
  local folder file
  while IFS= read -r folder; do
    for file in "$folder"/$2; do
      if [[ -f $file ]]; then
        printf '%s\n' "$file"
        return 0
      fi
    done
  done < <(vulkan_folders "$1")
  return 1
}

has_driver() { # any driver, named by the environment or installed
  [[ -n ${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-} ]] || vulkan_manifest icd.d '*.json' >/dev/null
}
has_lavapipe() { vulkan_manifest icd.d 'lvp_icd*.json' >/dev/null; }
has_validation() { vulkan_manifest explicit_layer.d 'VkLayer_khronos_validation.json' >/dev/null; }
has_venv() { has_command python3 && python3 -c 'import ensurepip, venv' >/dev/null 2>&1; }

need() { # need PACKAGE CHECK...: PACKAGE is missing when CHECK fails
  local package=$1
  shift
  "$@" || missing+=("$package")
}

# cc and the linker, for Rust itself and for crates with C sources (zstd).
need_compiler() { need build-essential has_command cc; }

need_loader() { need libvulkan1 has_library libvulkan.so.1; }

# The libraries that the window opens at run time.
need_window() {
  need libx11-6 has_library libX11.so.6
  need libx11-xcb1 has_library libX11-xcb.so.1
  need libxcb1 has_library libxcb.so.1
  need libxi6 has_library libXi.so.6
  need libxcursor1 has_library libXcursor.so.1
  need libxkbcommon0 has_library libxkbcommon.so.0
  need libxkbcommon-x11-0 has_library libxkbcommon-x11.so.0
}

# A Rust toolchain is the one thing that is expected to be there.
need_rust() {
  if ! has_command cargo && [[ -x ${CARGO_HOME:-${HOME:-/root}/.cargo}/bin/cargo ]]; then
    export PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"
  fi
  has_command cargo ||
    die "No Rust toolchain found (cargo is not in PATH). Install one from https://rustup.rs and run this again."
}

install_missing() { # install_missing FUNCTION: runs the checks of FUNCTION and installs what they miss
  missing=()
  "$1"
  if [[ ${#missing[@]} -eq 0 ]]; then return 0; fi

  local packages=("${missing[@]}") as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    if has_command sudo && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      die "Missing packages, and neither root nor password-less sudo to install them. Please run:
  sudo apt-get update && sudo apt-get install --no-install-recommends ${packages[*]}"
    fi
  fi
  has_command apt-get ||
    die "Missing packages, and no apt-get to install them. Their names on Debian and Ubuntu: ${packages[*]}"

  printf 'Installing: %s\n' "${packages[*]}" >&2
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${packages[@]}"; } >&2 ||
    die "apt-get could not install: ${packages[*]}"

  missing=()
  "$1"
  if [[ ${#missing[@]} -gt 0 ]]; then
    die "Still missing after apt-get install: ${missing[*]}"
  fi
}
