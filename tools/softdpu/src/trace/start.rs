//! `softdpu run --trace` and `--metrics`: the files, and the variables that make the library write it.

use std::ffi::OsString;
use std::path::PathBuf;

use softdpu_trace::metrics::{VARIABLE, Where};
use softdpu_trace::probes;
use softdpu_trace::record::create;
use softdpu_trace::start::{FILE, LIMIT_MIB, limit};

use crate::message::Failure;

/// What `--trace` and its companion say.
#[derive(Debug, Default)]
pub(crate) struct Tracing {
    pub(crate) file: Option<OsString>,
    pub(crate) limit: Option<OsString>,
    pub(crate) metrics: Option<OsString>,
    pub(crate) probes: bool,
}

impl Tracing {
    /// Empties the file, or makes it; gives the variables for the program.
    pub(crate) fn environment(mut self) -> Result<Vec<(&'static str, OsString)>, Failure> {
        let metrics = self.metrics.take().map(place).transpose()?;
        let probes = self.probes.then(|| (probes::VARIABLE, OsString::from("1")));
        let metrics = metrics.map(|place| (VARIABLE, place));
        Ok(self.trace()?.into_iter().chain(metrics).chain(probes).collect())
    }

    fn trace(self) -> Result<Vec<(&'static str, OsString)>, Failure> {
        let most = self.limit.map(|text| match limit(&text.to_string_lossy()) {
            Some(_) => Ok((LIMIT_MIB, text)),
            None => Err(Failure::usage(format!(
                "run: --trace-limit {}: wanted is a number of MiB, 1 to 1048576",
                text.display()
            ))),
        });
        let most = most.transpose()?;
        let Some(file) = self.file else {
            return match most {
                None => Ok(Vec::new()),
                Some(_) => Err(Failure::usage("run: --trace-limit goes with --trace")),
            };
        };
        let path = std::path::absolute(PathBuf::from(&file)).and_then(|path| create(&path).map(|()| path));
        let path = path.map_err(|e| Failure::failed(format!("run: {}: {e}", file.display())))?;
        Ok([(FILE, path.into())].into_iter().chain(most).collect())
    }
}

/// Where metrics go, in words that hold whatever folder the program goes to.
fn place(text: OsString) -> Result<OsString, Failure> {
    match Where::parse(&text.to_string_lossy()) {
        Some(Where::File(path)) => std::path::absolute(&path)
            .map(Into::into)
            .map_err(|e| Failure::failed(format!("run: {}: {e}", path.display()))),
        Some(_) => Ok(text),
        None => Err(Failure::usage(format!(
            "run: --metrics {}: wanted is top, HOST:PORT, or a path with a '/', such as ./metrics.prom",
            text.display()
        ))),
    }
}
