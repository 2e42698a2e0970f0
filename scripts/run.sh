#!/usr/bin/env bash
# Sets up what the viewer needs, builds it and starts it; arguments go to the program.
# Without a display the program renders a few frames of the built-in scene to out/ instead.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

needs() {
  need_compiler
  need_loader
  need mesa-vulkan-drivers has_driver # lavapipe, where no GPU driver is installed
  if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then need_window; fi
}

need_rust
install_missing needs
# cargo takes the toolchain file from the working directory; the program takes paths from it too.
start=$PWD
cd "$root"
cargo build --release --locked
binary=${CARGO_TARGET_DIR:-target}/release/nrview
[[ $binary == /* ]] || binary=$root/$binary
cd "$start"
exec "$binary" "$@"
