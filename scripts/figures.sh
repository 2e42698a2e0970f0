#!/usr/bin/env bash
# Measures a device: every figure that docs/ quotes, as JSON and text in one folder.
#
#   ./scripts/figures.sh FOLDER [STAGE...]     stages: about exact tune tensor viewer loading replay soak
#
# Without stages all of them run, one after the other, each within about ten minutes on a fast GPU; a stage that fails is
# named at the end and stops no other. Programs are taken from NRVIEW_BIN (default: target/release, built first where there
# is cargo), so a machine without a Rust toolchain can run what another one built. The machine must be idle otherwise.
#
# NRVIEW_SIZES (default 768x768,1920x1080,2560x1440,3840x2160) and NRVIEW_SOAK_MINUTES (8) make it shorter.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"

[[ $# -gt 0 && $1 != -* ]] || die "usage: ./scripts/figures.sh FOLDER [STAGE...]"
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
all=(about exact tune tensor viewer loading replay soak)
stages=("$@")
[[ ${#stages[@]} -gt 0 ]] || stages=("${all[@]}")
for name in "${stages[@]}"; do
  [[ " ${all[*]} " == *" $name "* ]] || die "Unknown stage $name; known: ${all[*]}"
done
sizes=${NRVIEW_SIZES:-768x768,1920x1080,2560x1440,3840x2160}
bin=${NRVIEW_BIN:-}
if [[ -z $bin ]]; then
  bin=target/release
  if has_command cargo; then cargo build --release --locked --workspace --bins --examples; fi
fi
[[ -x $bin/nrview ]] || die "There is no $bin/nrview: build it, or name the folder of the programs in NRVIEW_BIN"
# Tiles that one stage finds are there for the next.
export NRVIEW_CACHE_DIR=${NRVIEW_CACHE_DIR:-$out/cache}
fixtures=(tests/fixtures/*-*x*/)

keep() { # keep NAME COMMAND...: its output goes to the folder, errors beside it
  local name=$1
  shift
  printf '  %s\n' "$*"
  "$@" >"$out/$name" 2>"$out/$name.log"
}

# A comparison whose answer is no has been measured all the same.
keep_answer() { # keep_answer NAME COMMAND...
  local code=0
  keep "$@" || code=$?
  [[ $code -le 1 ]]
}

profile() { "$bin/examples/exec_profile" "$@"; }

stage_about() { keep doctor.txt "$bin/nrview" doctor; }

stage_exact() {
  keep limit.txt "$bin/examples/exec_limit"
  keep exact.txt profile --certify --check --frames 15 ${sizes//,/ }
  keep bench.json "$bin/nrview" --json --untuned bench --sizes "$sizes" --frames 15
}

stage_tune() {
  keep tune.json "$bin/nrview" --json tune --size 1920x1080 --size 768x768 --minutes 3
  keep exact-tuned.txt profile --tuned --check --frames 15 ${sizes//,/ }
  keep untuned.txt "$bin/nrview" --untuned profile --size 1920x1080 --frames 10 --save "$out/untuned.json"
  keep tuned.txt "$bin/nrview" profile --size 1920x1080 --frames 10 --save "$out/tuned.json" --by operation
  keep_answer tuned-untuned.txt "$bin/nrview" profile --compare "$out/untuned.json" "$out/tuned.json"
}

stage_tensor() {
  keep ceiling.txt "$bin/examples/matrix_ceiling"
  keep tensor.txt profile --route tensor --frames 24 ${sizes//,/ }
  local model fixture
  for model in starter lively:1; do
    fixture=tests/fixtures/starter-320x180
    [[ $model == starter ]] || fixture=tests/fixtures/lively-512x288
    keep_answer "tensor-${model%%:*}.json" "$bin/nrview" --json parity --route tensor --model "$model" --fixture "$fixture" \
      --size 640x360 --frames 60 --still-frames 600
  done
  keep_answer tensor-fixtures.json "$bin/nrview" --json parity --route tensor --fixture "${fixtures[@]}" --frames 0 --still-frames 0
}

stage_viewer() { keep overlay.json "$bin/nrview" --json bench --overlay --frames 200; }

stage_loading() {
  keep loading-made.txt "$bin/examples/loading" make "$out/large.glb" 2000000 200 512
  keep loading.txt "$bin/examples/loading" "$out/large.glb" 1920 1080
  rm -f "$out/large.glb"
}

stage_replay() {
  keep_answer certify-primary.txt "$bin/nrview" certify --to primary --out "$out/certify"
  keep_answer arms.json "$bin/nrview" --json bench --arms direct,secondary,primary --sizes 768x768,1920x1080 --frames 200
}

stage_soak() {
  keep soak.txt "$bin/nrview" soak --minutes "${NRVIEW_SOAK_MINUTES:-8}" --seed 1 --report "$out/soak.json"
}

failed=()
for name in "${stages[@]}"; do
  printf '=== %s\n' "$name"
  start=$SECONDS
  set +e
  (
    set -euo pipefail
    "stage_$name"
  )
  code=$?
  set -e
  printf '=== %s: exit code %d, %d s\n' "$name" "$code" $((SECONDS - start))
  [[ $code -eq 0 ]] || failed+=("$name")
done
if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'failed: %s; the logs are in %s\n' "${failed[*]}" "$out" >&2
  exit 1
fi
