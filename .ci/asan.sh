#!/bin/sh
# Address sanitizer: tests of memory, room and models, and a C program with two progress engines on two threads; library
# and program are instrumented. Needs a nightly toolchain.
set -eu
cd "$(dirname "$0")/.."
skip() {
	echo "skipped: $1"
	exit 0
}
target=x86_64-unknown-linux-gnu
[ "$(uname -m)" = x86_64 ] || skip "made for x86-64"
command -v rustup >/dev/null || skip "no rustup"
rustc +nightly --version >/dev/null 2>&1 || skip "no nightly toolchain"
runtime="$(rustc +nightly --print target-libdir --target $target)/librustc-nightly_rt.asan.a"
[ -f "$runtime" ] || skip "no address sanitizer runtime"

# Tests drop stores of buffers without dissolving them; places of handles are never given back at all.
export CARGO_TARGET_DIR=target/asan RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_stack_use_after_return=1:detect_leaks=0
# The target is named so that build scripts and procedural macros stay as they are.
cargo +nightly test --target $target -p softdpu-memory --lib --tests
cargo +nightly test --target $target -p softdpu-room --lib --test waits
SOFTDPU_TEST_SHARE=4 cargo +nightly test --target $target -p softdpu-models --test threads --test waits --test ends
cargo +nightly build --target $target -p softdpu-capi

out=$CARGO_TARGET_DIR/c
mkdir -p "$out"
program() { # name, further flags of the compiler
	name=$1
	shift
	cc -g -O1 -fPIE -fsanitize=address "$@" -DDOCA_ALLOW_EXPERIMENTAL_API -Icrates/doca/include \
		-c .ci/two_engines.c -o "$out/$name.o"
	c++ -pie "$out/$name.o" "$CARGO_TARGET_DIR/$target/debug/libsoftdpu_c.a" \
		-Wl,--whole-archive "$runtime" -Wl,--no-whole-archive -lpthread -ldl -lm -lrt -o "$out/$name"
}
program two_engines
ASAN_OPTIONS=detect_leaks=1 "$out/two_engines"
# The same with memory that the engines write after it was freed, which must be found.
program stale -DSTALE
if "$out/stale" >"$out/stale.log" 2>&1; then
	echo "the sanitizer does not see a use after free that is there" >&2
	exit 1
fi
grep -q "ERROR: AddressSanitizer: heap-use-after-free" "$out/stale.log"
echo "address sanitizer: nothing found"
