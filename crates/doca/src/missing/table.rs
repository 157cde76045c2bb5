//! The list of missing functions. Made by `cargo xtask matrix` from `contract/functions.toml`; do not edit.

missing! {}
