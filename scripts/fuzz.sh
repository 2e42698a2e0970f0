#!/usr/bin/env bash
# Fuzzes the parsers of outside data: ./scripts/fuzz.sh [SECONDS] [TARGET...]
# Without targets all of them, one after the other, for 30 seconds each. Ends with the first that fails; its input is then
# under tests/fuzz/artifacts. Needs only the pinned Rust toolchain and a C++ compiler.
#
# NRVIEW_FUZZ_CORPUS names a folder that keeps what is found from one run to the next (one subfolder a target).
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

needs() {
  need_compiler
  need g++ has_command c++ # libFuzzer
}

need_rust
install_missing needs
cd "$root/tests/fuzz"

seconds=30
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
  seconds=$1
  shift
fi
targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
  for folder in corpus/*/; do targets+=("$(basename "$folder")"); done
fi

# What cargo-fuzz asks of the compiler. The sanitizer is in the stable toolchain, but only with this variable; C code
# (zstd) is not instrumented.
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Zsanitizer=address"
cargo build --release --locked --target "$host" --bin outside
program=$(cargo metadata --locked --no-deps --format-version 1 | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
program=$program/$host/release/outside

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for target in "${targets[@]}"; do
  [[ -d corpus/$target ]] || die "There is no fuzz target $target; there are: $(ls corpus | tr '\n' ' ')"
  kept=${NRVIEW_FUZZ_CORPUS:-$scratch/corpus}/$target
  mkdir -p "$kept" artifacts "$scratch/$target"
  # The OpenEXR decoder makes threads for every file and does not wait for their end: memory of one that is just ending is no
  # leak, but the checker between two inputs takes it for one. At the end of the program leaks are looked for all the same.
  leaks=1
  case $target in panorama | import-exr) leaks=0 ;; esac
  # The first corpus takes what is new; the committed one is only read. Memory and time of one input are bounded, and so
  # is a single allocation.
  printf '\n=== %s, %d s\n' "$target" "$seconds"
  TMPDIR=$scratch/$target NRVIEW_FUZZ_TARGET=$target "$program" "$kept" "corpus/$target" \
    -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -malloc_limit_mb=1024 -max_len=65536 -len_control=0 -print_final_stats=1 -detect_leaks=$leaks \
    -artifact_prefix="artifacts/$target-" 2>&1 | grep -vE '^#[0-9]+\s+(NEW|REDUCE|RELOAD|pulse)' ||
    { [[ ${PIPESTATUS[0]} -eq 0 ]] || die "$target failed; its input is in tests/fuzz/artifacts"; }
done
