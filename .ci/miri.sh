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

# Device addresses are plain numbers in the contract, so pointers are made from exposed addresses. Places of handles and
# buffers are never given back, which is not a leak here.
export CARGO_TARGET_DIR=target/miri
export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance -Zmiri-ignore-leaks"
# Left out: what needs a runtime folder, descriptors, memfd_create or /proc (addresses there are others), what takes
# minutes there, and two tests that look at their bytes through slices while buffers point at them.
cargo +nightly miri test -p softdpu-memory --lib -- \
	--skip dmabuf --skip backing::tests --skip export:: --skip far::tests --skip kernel::tests --skip register::tests \
	--skip memory_taken_back --skip random_claims --skip routines_copy_exactly --skip every_flipped_bit \
	--skip any_bytes --skip lists_of_different_shapes --skip sinks_write_the_room --skip sources_read_the_same
# Objects that handles point at change behind shared references, which the borrow rules that Miri tries out forbid; races,
# uses after the end and reads of what was never written are looked for.
MIRIFLAGS="$MIRIFLAGS -Zmiri-disable-stacked-borrows" \
	cargo +nightly miri test -p softdpu-models --test ends
echo "miri: nothing found"
