//! `softdpu run --record`: writes the calls of a program.

use std::ffi::OsString;

use softdpu_sdk::Kit;

use crate::message::Failure;
use crate::run::can_load;

/// What `--record` and its companion say.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) file: Option<OsString>,
    pub(crate) limit: Option<OsString>,
}

impl Recording {
    /// The library that is loaded into the program.
    pub(crate) fn library(&self, kit: &Kit, program: &OsString) -> Result<Option<&'static str>, Failure> {
        let name = softdpu_sdk::RECORD_LIBRARY;
        let can = || can_load(kit.record_library().is_some(), name, "--record", program);
        self.file.is_some().then(can).transpose()
    }

    /// The variables that tell it what to do.
    pub(crate) fn environment(&self) -> Result<Vec<(&'static str, OsString)>, Failure> {
        let Some(file) = &self.file else {
            return match self.limit {
                Some(_) => Err(Failure::usage("run: --record-limit goes with --record")),
                None => Ok(Vec::new()),
            };
        };
        let named = |e| Failure::failed(format!("run: --record {}: {e}", file.display()));
        // The program may change its folder; and a file that cannot be written is said before it starts.
        let path = std::path::absolute(file).map_err(named)?;
        std::fs::File::create(&path).map_err(named)?;
        let pid = std::process::id().to_string();
        let mut all = vec![("SOFTDPU_RECORD", path.into()), ("SOFTDPU_RECORD_PID", pid.into())];
        if let Some(limit) = &self.limit {
            let mebibytes = limit.to_str().and_then(|text| text.parse::<u32>().ok()).filter(|&n| n > 0);
            let mebibytes = mebibytes.ok_or_else(|| {
                Failure::usage(format!("--record-limit {}: no number of MiB", limit.display()))
            })?;
            all.push(("SOFTDPU_RECORD_LIMIT", mebibytes.to_string().into()));
        }
        Ok(all)
    }
}
