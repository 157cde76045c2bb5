#!/usr/bin/env bash
#
# Builds the libFuzzer targets of fuzz/ with coverage and the address sanitizer, and runs each of them (or those that are
# named) for ten seconds (SECONDS_EACH) from its seeds. Needs a nightly toolchain and a C++ compiler; cargo-fuzz is not
# needed. What a run finds new stays in target/libfuzzer/found.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() {
	echo "skipped: $1"
	exit 0
}
target=x86_64-unknown-linux-gnu
[ "$(uname -m)" = x86_64 ] || skip "made for x86-64"
command -v rustup >/dev/null || skip "no rustup"
rustc +nightly --version >/dev/null 2>&1 || skip "no nightly toolchain"
[ -f "$(rustc +nightly --print target-libdir --target $target)/librustc-nightly_rt.asan.a" ] ||
	skip "no address sanitizer runtime"
command -v c++ >/dev/null || skip "no C++ compiler"

out="$PWD/target/libfuzzer"
mkdir -p "$out/found"
cargo +nightly fetch --quiet --manifest-path fuzz/Cargo.toml || skip "libfuzzer-sys cannot be had"

# As cargo-fuzz does it. The target is named so that build scripts and procedural macros stay as they are.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
coverage+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
coverage+=" -Cllvm-args=-sanitizer-coverage-trace-compares"
RUSTFLAGS="--cfg fuzzing $coverage -Zsanitizer=address -Cdebug-assertions" CARGO_TARGET_DIR="$out" \
	cargo +nightly build --quiet --release --target $target --manifest-path fuzz/Cargo.toml --bins

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=($(cd fuzz/fuzz_targets && ls ./*.rs | xargs -n 1 basename -s .rs))
# Forged descriptors may name other processes; there are none in this folder.
SOFTDPU_RUNTIME_DIR=$(mktemp -d)
export SOFTDPU_RUNTIME_DIR
trap 'rm -rf "$SOFTDPU_RUNTIME_DIR"' EXIT
# Pools and handles keep their memory for good: no leaks.
export ASAN_OPTIONS=detect_leaks=0
failed=0
for name in "${wanted[@]}"; do
	mkdir -p "$out/found/$name"
	# -rss_limit_mb: memory that a bomb makes this library take would be a finding.
	if "$out/$target/release/$name" -max_total_time="${SECONDS_EACH:-10}" -timeout=20 -rss_limit_mb=1024 -max_len=8192 \
		-artifact_prefix="$out/$name-" "$out/found/$name" "fuzz/corpus/$name" >"$out/$name.log" 2>&1; then
		printf '%s: %s\n' "$name" "$(grep -E '^Done ' "$out/$name.log")"
	else
		tail -n 60 "$out/$name.log"
		echo "$name: FAILED; the input is in $out" >&2
		failed=1
	fi
done
exit $failed
