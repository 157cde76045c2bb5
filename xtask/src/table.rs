//! The table of the contract, `contract/functions.toml`: every function once.

use crate::root;
use serde::Deserialize;
use std::collections::BTreeSet;

/// One function of the contract.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Function {
    /// The symbol.
    pub(crate) name: String,
    /// How programs write it where a macro stands in between.
    pub(crate) call: Option<String>,
    /// Chapter of the contract.
    pub(crate) family: String,
    /// Header that declares it.
    pub(crate) header: String,
    /// pkg-config module.
    pub(crate) module: String,
    /// What it returns.
    pub(crate) returns: Returns,
    /// Whether it works.
    pub(crate) state: State,
    /// What its header marks it as.
    pub(crate) stability: Stability,
    /// Tests besides those that say so themselves.
    pub(crate) tests: Vec<String>,
}

/// Kind of a result.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Returns {
    /// `doca_error_t`
    Error,
    /// any pointer
    Pointer,
    /// nothing
    Void,
    /// `uint8_t`
    U8,
    /// `uint16_t`
    U16,
    /// `uint32_t` or an enum
    U32,
    /// `uint64_t`
    U64,
    /// `union doca_data`
    Data,
}

/// Whether a function works.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It works.
    Done,
    /// It is exported and answers that it is not supported.
    Missing,
    /// It works and has no symbol: a static inline of its header.
    Inline,
}

/// Promise about a function.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stability {
    /// Stays as it is.
    Stable,
    /// May change; programs opt in.
    Experimental,
}

impl Function {
    /// Does the library export a symbol for it?
    pub(crate) fn has_symbol(&self) -> bool {
        self.state != State::Inline
    }

    /// Is it a question that programs ask every device while they look for one?
    pub(crate) fn is_capability(&self) -> bool {
        self.returns == Returns::Error && self.name.contains("_cap_")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    function: Vec<Function>,
}

/// Reads the table and checks what its types do not say.
pub(crate) fn load() -> Result<Vec<Function>, String> {
    parse(&root::read("contract/functions.toml")?)
}

fn parse(text: &str) -> Result<Vec<Function>, String> {
    let file: File = toml::from_str(text).map_err(|e| format!("contract/functions.toml: {e}"))?;
    let mut names = BTreeSet::new();
    for f in &file.function {
        if !names.insert(&f.name) {
            return Err(format!("contract/functions.toml: {} stands there twice", f.name));
        }
        if softdpu_sdk::module_of(&f.name).pc != f.module {
            return Err(format!(
                "contract/functions.toml: {} is said to be of {}, but its name puts it into {}",
                f.name,
                f.module,
                softdpu_sdk::module_of(&f.name).pc
            ));
        }
    }
    Ok(file.function)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, module: &str) -> String {
        format!(
            "{{ name = \"{name}\", family = \"dma\", header = \"doca_dma.h\", module = \"{module}\", \
             returns = \"error\", state = \"done\", stability = \"stable\", tests = [] }},"
        )
    }

    #[test]
    fn doubles_and_wrong_modules_are_refused() {
        let good = row("doca_dma_create", "doca-dma");
        assert_eq!(parse(&format!("function = [{good}]")).map(|t| t.len()), Ok(1));
        let twice = parse(&format!("function = [{good}{good}]")).unwrap_err();
        assert!(twice.contains("twice"), "{twice}");
        let wrong = parse(&format!("function = [{}]", row("doca_sha_create", "doca-dma"))).unwrap_err();
        assert!(wrong.contains("doca-sha"), "{wrong}");
    }

    #[test]
    fn the_table_has_every_family() {
        let table = load().expect("a valid table");
        let families: BTreeSet<_> = table.iter().map(|f| f.family.as_str()).collect();
        assert_eq!(families.len(), 17);
        assert!(table.len() > 1000);
    }
}
