//! The tools of whoever carries a job out: codec states and bounce memory. A context keeps as many sets as threads ever
//! worked for it at the same time.

use crate::ffi::{Deflater, Inflater, Scratch, isal};
use softdpu_status::Result;
use std::sync::{Mutex, MutexGuard};

/// One set, for one job at a time.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    pub(crate) codecs: Codecs,
    pub(crate) input: Scratch,
    pub(crate) output: Scratch,
}

/// Codec states, made when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct Codecs {
    /// Looked for already; nothing where the machine has none.
    fast: Option<Option<isal::Deflater>>,
    deflater: Option<Deflater>,
    inflater: Option<Inflater>,
}

impl Codecs {
    /// The fast compressor of the fastest level, where the machine has it.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn fast(&mut self) -> Result<Option<&mut isal::Deflater>> {
        match &mut self.fast {
            Some(looked) => Ok(looked.as_mut()),
            none => Ok(none.insert(isal::Deflater::find()?).as_mut()),
        }
    }

    /// The compressor; `level` is the same in every call.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn deflater(&mut self, level: u8) -> Result<&mut Deflater> {
        match &mut self.deflater {
            Some(made) => Ok(made),
            none => Ok(none.insert(Deflater::new(level)?)),
        }
    }

    /// # Errors
    /// NoMemory.
    pub(crate) fn inflater(&mut self) -> Result<&mut Inflater> {
        match &mut self.inflater {
            Some(made) => Ok(made),
            none => Ok(none.insert(Inflater::new()?)),
        }
    }
}

/// The sets that nobody uses right now.
#[derive(Debug, Default)]
pub(crate) struct Shelf(Mutex<Vec<Tools>>);

impl Shelf {
    fn sets(&self) -> MutexGuard<'_, Vec<Tools>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Lends a set to `work`. A set that was in use while the work panicked is not used again.
    pub(crate) fn lend<T>(&self, work: impl FnOnce(&mut Tools) -> T) -> T {
        let mut tools = self.sets().pop().unwrap_or_default();
        let result = work(&mut tools);
        tools.input.trim();
        tools.output.trim();
        self.sets().push(tools);
        result
    }
}
