//! The DOCA modules: the names that programs hand to pkg-config and to the linker.
//!
//! All code is in one library; a module is a stub with the names of its functions. Which module a function
//! belongs to follows from its prefix, so that the list of functions is written down only once, in the code.

/// One DOCA module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// Name for pkg-config, such as `doca-aes-gcm`.
    pub pc: &'static str,
    /// Name for the linker, such as `doca_aes_gcm`.
    pub lib: &'static str,
    /// Prefix of its functions; empty for the module that takes what no other one claims.
    pub prefix: &'static str,
    /// One line for pkg-config.
    pub description: &'static str,
}

const fn module(
    pc: &'static str,
    lib: &'static str,
    prefix: &'static str,
    description: &'static str,
) -> Module {
    Module { pc, lib, prefix, description }
}

/// Every module; `doca-common` stands first and is required by all others.
pub const MODULES: &[Module] = &[
    module("doca-common", "doca_common", "", "devices, memory, contexts, progress, log"),
    module("doca-argp", "doca_argp", "doca_argp_", "command line and JSON parameters"),
    module("doca-dma", "doca_dma", "doca_dma_", "memory copies by the card"),
    module("doca-sha", "doca_sha", "doca_sha_", "hashes by the card"),
    module("doca-compress", "doca_compress", "doca_compress_", "deflate and LZ4 by the card"),
    module("doca-aes-gcm", "doca_aes_gcm", "doca_aes_gcm_", "authenticated encryption by the card"),
    module("doca-erasure-coding", "doca_erasure_coding", "doca_ec_", "erasure codes by the card"),
    module("doca-rdma", "doca_rdma", "doca_rdma_", "remote memory access and messages"),
    module("doca-comch", "doca_comch", "doca_comch_", "messages between host and card"),
    module("doca-eth", "doca_eth", "doca_eth_", "Ethernet frames in and out"),
    module("doca-flow", "doca_flow", "doca_flow_", "steering of Ethernet frames"),
    module(
        "doca-telemetry-exporter",
        "doca_telemetry_exporter",
        "doca_telemetry_exporter_",
        "export of measurements",
    ),
];

/// The module that a function belongs to.
pub fn module_of(function: &str) -> &'static Module {
    let owner = MODULES.iter().find(|m| !m.prefix.is_empty() && function.starts_with(m.prefix));
    owner.unwrap_or(&MODULES[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_find_their_module() {
        for (function, pc) in [
            ("doca_dma_create", "doca-dma"),
            ("doca_ec_matrix_create", "doca-erasure-coding"),
            ("doca_eth_rxq_create", "doca-eth"),
            ("doca_error_get_name", "doca-common"),
            ("softdpu_primer_init", "doca-common"),
            ("doca_comch_server_create", "doca-comch"),
            ("doca_telemetry_exporter_schema_init", "doca-telemetry-exporter"),
        ] {
            assert_eq!(module_of(function).pc, pc, "{function}");
        }
    }

    /// The prefixes say the same as the project's function table.
    #[test]
    fn the_function_table_agrees() {
        let table = include_str!("../../../contract/functions.toml");
        let field = |line: &'static str, key: &str| {
            let rest = line.split_once(&format!("{key} = \""))?.1;
            Some(rest.split_once('"')?.0)
        };
        let rows = table.lines().filter_map(|l| Some((field(l, " name")?, field(l, " module")?)));
        let rows: Vec<_> = rows.collect();
        assert!(rows.len() > 500, "only {} functions found", rows.len());
        for (name, pc) in rows {
            assert_eq!(module_of(name).pc, pc, "{name}");
        }
    }

    #[test]
    fn names_follow_one_rule() {
        for m in MODULES {
            assert_eq!(m.pc.replace('-', "_"), m.lib);
        }
    }
}
