//! Task graphs: `doca_graph_*`.
//!
//! | file | what |
//! |---|---|
//! | `plan.rs` | which node comes before which; no pointers, no calls |
//! | `object.rs` | what C programs hold: graphs, nodes, instances |
//! | `kick.rs` | how a graph gets progress to come by when none of its tasks does |
//! | `run.rs` | an instance from submit to its one callback |
//! | `configure.rs`, `instance.rs` | the entry points |
//!
//! Tasks of nodes are ordinary tasks of their contexts, submitted with a hook: their completion comes here instead of to
//! their callbacks. No lock is held while a task is submitted or the program is called.

pub mod configure;
pub mod instance;
mod kick;
mod object;
mod plan;
mod run;

/// Log target of this family.
const LOG: &str = "softdpu::graph";
