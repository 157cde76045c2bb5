//! What a software card is: topology, profiles, limits. Pure data, no threads, no locks, no unsafe code.
//!
//! A [`Machine`] is the set of cards that a process sees. It comes from the environment
//! ([`Machine::from_env`]) or from a [`MachineBuilder`], and is a list of [`Function`]s in a fixed order.
//! A function knows its addresses and names, which engines and which finer [`Feature`]s it has, the
//! [`Limits`] of each engine and, on the card side, the [`Representor`]s of the host functions.
//!
//! | file | idea |
//! |---|---|
//! | `pci.rs` | a PCI address and its two written forms |
//! | `engine_kind.rs`, `feature.rs`, `plane.rs` | names of engines, of what an engine can do, of groups of engines |
//! | `profile.rs` | which card has which feature |
//! | `limits.rs` | one table of limits: fields, defaults, allowed values |
//! | `function.rs` | a function and a representor, as programs see them |
//! | `port.rs`, `wire.rs` | what is behind a network port, and which ports are wired to each other |
//! | `steer.rs` | which queue gets which frames |
//! | `topology.rs` | the plan of a machine before it is built, and the default plan |
//! | `config.rs`, `file.rs`, `bond.rs`, `real.rs` | the plan written as a TOML file |
//! | `machine.rs`, `build.rs`, `find.rs` | from plan to machine; finding a function by name |
//! | `error.rs` | why a configuration was refused |

mod bond;
mod build;
mod config;
mod engine_kind;
mod error;
mod feature;
mod file;
mod find;
mod function;
mod limits;
mod machine;
mod path;
mod pci;
mod plane;
mod port;
mod profile;
mod reach;
mod real;
mod steer;
mod topology;
mod verbs;
mod wire;

pub use engine_kind::{EngineKind, EngineSet};
pub use error::ConfigError;
pub use feature::{Feature, FeatureSet};
pub use find::FindError;
pub use function::{CardInfo, Function, FunctionKind, Representor, Side};
pub use limits::{
    AesGcmLimits, ComchLimits, CompressLimits, DmaLimits, ErasureCodingLimits, EthRxqLimits, EthTxqLimits,
    Limits, MemoryLimits, RdmaLimits, ShaLimits, SyncEventLimits,
};
pub use machine::{Machine, MachineBuilder, Settings, View};
pub use path::RdmaPath;
pub use pci::{ParsePciError, PciAddr};
pub use plane::Plane;
pub use port::{Backend, Plug};
pub use profile::{Mode, Profile};
pub use reach::Reach;
pub use steer::SteerRule;
pub use verbs::VerbsPort;
