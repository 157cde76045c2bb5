//! Plans of faults.
#![no_main]

use libfuzzer_sys::fuzz_target;
use softdpu_faults::Plan;

fuzz_target!(|text: &str| {
    match Plan::parse(text) {
        Ok(mut plan) => {
            let mut again = Plan::parse(&plan.to_toml()).expect("its own words");
            plan.faults.iter_mut().chain(&mut again.faults).for_each(|fault| fault.line = 0);
            assert_eq!(plan, again);
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!error.cause().is_empty() && !line.contains('\n'), "one line with a cause: {line}");
        }
    }
});
