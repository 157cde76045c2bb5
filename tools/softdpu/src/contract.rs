//! Which functions of the C interface this build has: the project's function table, compiled in.
//!
//! A card may have engines that the library cannot run yet. The command must not promise what a program would
//! be refused, so `devices` and `caps` look here as well as at the card.

use serde::Deserialize;
use softdpu_card::EngineKind;

use crate::message::Failure;

// A link to the table of the workspace, so that a published package has it, too.
const TABLE: &str = include_str!("../functions.toml");

/// The table.
#[derive(Debug, Deserialize)]
pub(crate) struct Contract {
    function: Vec<Row>,
}

/// One function; columns that are not needed here are left out.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) family: String,
    state: String,
}

impl Row {
    /// Whether the library carries it out, rather than answering that it is not supported.
    pub(crate) fn is_done(&self) -> bool {
        self.state != "missing"
    }
}

impl Contract {
    /// Reads the compiled-in table.
    pub(crate) fn load() -> Result<Self, Failure> {
        toml::from_str(TABLE).map_err(|e| Failure::failed(format!("the function table is damaged: {e}")))
    }

    /// Every capability call, in the table's order.
    pub(crate) fn capability_calls(&self) -> impl Iterator<Item = &Row> {
        self.function.iter().filter(|row| row.name.contains("_cap_"))
    }

    /// Whether contexts of this engine can be created.
    pub(crate) fn has_engine(&self, engine: EngineKind) -> bool {
        let create = match engine {
            EngineKind::Dma => "doca_dma_create",
            EngineKind::Sha => "doca_sha_create",
            EngineKind::Compress => "doca_compress_create",
            EngineKind::AesGcm => "doca_aes_gcm_create",
            EngineKind::ErasureCoding => "doca_ec_create",
            EngineKind::Rdma => "doca_rdma_create",
            EngineKind::Comch => "doca_comch_server_create",
            EngineKind::EthRxq => "doca_eth_rxq_create",
            EngineKind::EthTxq => "doca_eth_txq_create",
            EngineKind::SyncEvent => "doca_sync_event_create",
            _ => return false,
        };
        self.function.iter().any(|row| row.name == create && row.is_done())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_every_engine_and_its_calls() {
        let contract = Contract::load().ok().unwrap();
        assert!(contract.has_engine(EngineKind::Dma));
        for &engine in EngineKind::ALL {
            // Done or missing, the creating function must be there under the name that is looked for.
            let everything_done = Contract {
                function: contract
                    .function
                    .iter()
                    .map(|r| Row { state: "done".into(), ..r.clone_names() })
                    .collect(),
            };
            assert!(everything_done.has_engine(engine), "{engine}");
        }
        assert!(contract.capability_calls().count() > 100);
    }

    impl Row {
        fn clone_names(&self) -> Self {
            Self { name: self.name.clone(), family: self.family.clone(), state: String::new() }
        }
    }
}
