#!/bin/sh
# Thread sanitizer: the real-thread tests of the room, and a C program with two progress engines on two threads; library,
# standard library and program are all instrumented. Needs a nightly toolchain with rust-src.
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
[ -d "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" ] ||
	rustup component add --toolchain nightly rust-src >/dev/null 2>&1 || skip "no rust-src"
runtime="$(rustc +nightly --print target-libdir --target $target)/librustc-nightly_rt.tsan.a"
[ -f "$runtime" ] || skip "no thread sanitizer runtime"

export CARGO_TARGET_DIR=target/tsan RUSTFLAGS=-Zsanitizer=thread TSAN_OPTIONS=exitcode=66
build="-Zbuild-std --target $target"
# shellcheck disable=SC2086
SOFTDPU_TEST_SHARE=4 cargo +nightly test $build -p softdpu-models --test threads --test waits --test ends
# shellcheck disable=SC2086
cargo +nightly test $build -p softdpu-memory --test threads --test buffers
# shellcheck disable=SC2086
cargo +nightly test $build -p softdpu-room --test waits
# shellcheck disable=SC2086
cargo +nightly build $build -p softdpu-capi

out=$CARGO_TARGET_DIR/c
mkdir -p "$out"
program() { # name, further flags of the compiler
	name=$1
	shift
	cc -g -O1 -fPIE -fsanitize=thread "$@" -DDOCA_ALLOW_EXPERIMENTAL_API -Icrates/doca/include \
		-c .ci/two_engines.c -o "$out/$name.o"
	c++ -pie "$out/$name.o" "$CARGO_TARGET_DIR/$target/debug/libsoftdpu_c.a" \
		-Wl,--whole-archive "$runtime" -Wl,--no-whole-archive -lpthread -ldl -lm -lrt -o "$out/$name"
}
program two_engines
"$out/two_engines"
# The same with a race of its own, which must be found: otherwise all of the above proves nothing.
program racing -DRACE
if "$out/racing" >"$out/racing.log" 2>&1; then
	echo "the sanitizer does not see a race that is there" >&2
	exit 1
fi
grep -q "WARNING: ThreadSanitizer: data race" "$out/racing.log"
echo "thread sanitizer: nothing found"
