#!/bin/sh
# Miri: the tests of memory and room that make no system calls Miri lacks. Needs a nightly toolchain with miri.
set -eu
cd "$(dirname "$0")/.."
skip() {
	echo "skipped: $1"
	exit 0
}
command -v rustup >/dev/null || skip "no rustup"
rustc +nightly --version >/dev/null 2>&1 || skip "no nightly toolchain"
cargo +nightly miri --version >/dev/null 2>&1 ||
	rustup component add --toolchain nightly miri rust-src >/dev/null 2>&1 || skip "no miri"
cargo +nightly miri setup >/dev/null 2>&1 || skip "miri cannot be set up"

# Device addresses are plain numbers in the contract, so pointers are made from exposed addresses.
export CARGO_TARGET_DIR=target/miri MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance"
# Left out: what needs a runtime folder, descriptors or memfd_create, what takes minutes there, and a test that looks at
# its bytes through slices while buffers point at them.
cargo +nightly miri test -p softdpu-memory --lib -- \
	--skip dmabuf --skip export::tests --skip random_claims --skip routines_copy_exactly --skip every_flipped_bit \
	--skip any_bytes_give --skip lists_of_different_shapes
# Objects that handles point at change behind shared references, which the borrow rules that Miri tries out forbid; races,
# uses after the end and reads of what was never written are looked for.
MIRIFLAGS="$MIRIFLAGS -Zmiri-disable-stacked-borrows -Zmiri-ignore-leaks" \
	cargo +nightly miri test -p softdpu-models --test ends
echo "miri: nothing found"
