//! Finding a function by what people call it.

use crate::function::Function;
use crate::machine::Machine;
use crate::pci::PciAddr;
use softdpu_status::{Code, Error};
use std::fmt;
use std::sync::Arc;

/// No visible function has this name. The text lists those that exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FindError {
    wanted: String,
    hidden: Option<(String, &'static str)>,
    visible: Vec<String>,
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hidden {
            Some((function, view)) => {
                write!(f, "device {function} exists but is not seen with side `{view}`")?
            }
            None => write!(f, "there is no device `{}`", self.wanted)?,
        }
        if self.visible.is_empty() {
            f.write_str("; no device is visible")
        } else {
            write!(f, "; devices that exist: {}", self.visible.join(", "))
        }
    }
}

impl std::error::Error for FindError {}

/// The code of the small error type; the text is lost, so log it first.
impl From<FindError> for Error {
    fn from(_: FindError) -> Error {
        Error::new(Code::NotFound, "no such device")
    }
}

impl Machine {
    /// The first visible function with this PCI address (with or without domain, either case), interface name
    /// or RDMA device name. A bonded function is found under the names of its ports too.
    ///
    /// # Errors
    /// [`FindError`], whose text lists the functions that exist.
    pub fn find(&self, text: &str) -> Result<Arc<Function>, FindError> {
        let pci = text.parse().ok();
        let found =
            |list: &[Arc<Function>]| list.iter().find(|function| is_called(function, text, pci)).cloned();
        found(&self.visible).ok_or_else(|| FindError {
            wanted: text.to_owned(),
            hidden: found(&self.hidden).map(|function| (function.to_string(), self.view.name())),
            visible: self.visible.iter().map(ToString::to_string).collect(),
        })
    }
}

fn is_called(function: &Function, text: &str, pci: Option<PciAddr>) -> bool {
    match pci {
        Some(pci) => function.pci == pci || function.bond.iter().any(|member| member.pci == pci),
        None => {
            function.ibdev == text
                || function.iface == text
                || function.bond.iter().any(|member| member.ibdev == text || member.iface == text)
        }
    }
}
