//! Topology files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use softdpu_card::Machine;

fuzz_target!(|text: &str| {
    match Machine::builder().config_text(text).build() {
        Ok(machine) => {
            for function in machine.functions() {
                assert!(!function.to_string().is_empty());
            }
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!error.cause().is_empty() && !line.contains('\n'), "one line with a cause: {line}");
        }
    }
});
