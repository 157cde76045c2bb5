//! `doca_dev.h`: lists of devices and representors, opening them, their properties and capabilities.
//!
//! | file | what |
//! |---|---|
//! | `object.rs` | the objects behind the handles, and the way from a handle to what it stands for |
//! | `machine.rs` | the machine of this process, loaded once |
//! | `fork.rs` | what a forked child may still do |
//! | `list.rs` | snapshots of the local devices |
//! | `open.rs` | opening and closing devices, with references |
//! | `props.rs` | properties of devices |
//! | `caps.rs` | capability calls that take a device information record |
//! | `rep.rs`, `rep_props.rs` | representors |
//! | `call.rs` | what all these entry points share |
//!
//! Every call may be made from any thread. A handle that is NULL, of another kind or destroyed answers
//! `DOCA_ERROR_INVALID_VALUE`, with one log line that says which.

mod call;
mod caps;
mod fork;
mod list;
mod machine;
mod object;
mod open;
mod props;
mod rep;
mod rep_props;

pub use caps::*;
#[allow(unused_imports, reason = "for the other families of the C face")]
pub(crate) use fork::{check as check_fork, is_forked_child};
pub use list::{doca_devinfo_create_list, doca_devinfo_destroy_list};
#[allow(unused_imports, reason = "for the other families of the C face")]
pub(crate) use machine::machine;
pub use object::{Dev, DevInfo, DevRep, OpenRep, RepInfo, device, function, open_representor};
pub(crate) use open::{NOBODY, first_open, is_open, is_orphan, open, orphan, reap};
pub use open::{doca_dev_accelerate_resource_reclaim, doca_dev_as_devinfo, doca_dev_close, doca_dev_open};
pub use props::*;
pub use rep::*;
pub use rep_props::*;
