# Sourced by every script: stands in the root of the checkout and says where things are built.
#
# The build directory lives outside the checkout, so that a fresh clone finds what the last one built.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export REMIT_CACHE="${REMIT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/remit}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$REMIT_CACHE/target}"
mkdir -p "$REMIT_CACHE"

# Says what is being done, on a line that stands out from what the tools print.
step() { printf '\n== %s\n' "$*"; }

# Stops with a message that says what to do.
give_up() { printf 'error: %s\n' "$*" >&2; exit 2; }

# Installs Debian packages, where there is a way to.
install_packages() {
  step "installing $*"
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  command -v apt-get >/dev/null || give_up "install $* and try again"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq "$@"
}

# Asks for a program, and installs its package if it is not there.
need() { command -v "$1" >/dev/null || install_packages "${2:-$1}"; }

# Asks for a part of the Rust toolchain.
need_component() {
  local component="$1"
  cargo "${component#rust}" --version >/dev/null 2>&1 && return
  step "adding $component to the toolchain"
  rustup component add "$component" || give_up "$component is missing; add it to the toolchain"
}
