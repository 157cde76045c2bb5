//! Where in the program something happened: an address in its code, and the words for it.

use std::collections::HashMap;
use std::ffi::c_void;
use std::path::Path;
use std::sync::Mutex;

/// A return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) usize);

impl Place {
    /// This place, unless it is in an inline function of the headers that the compiler did not put into its caller; then
    /// the place of the call of that. Asked from within a function that returns to this place.
    pub(crate) fn of_program(self) -> Place {
        // Looked up once per place: debug information is slow.
        static HEADERS: Mutex<Option<HashMap<Place, bool>>> = Mutex::new(None);
        let inside = {
            let mut known = HEADERS.lock().unwrap_or_else(|e| e.into_inner());
            *known.get_or_insert_default().entry(self).or_insert_with(|| self.is_in_header())
        };
        if !inside {
            return self;
        }
        let (mut found, mut outer) = (false, None);
        backtrace::trace(|frame| {
            if found {
                outer = Some(Place(frame.ip() as usize));
            }
            let next = !found;
            found |= frame.ip() as usize == self.0;
            next
        });
        outer.unwrap_or(self)
    }

    /// Whether the code there is that of a header, and no function of the program around it.
    fn is_in_header(self) -> bool {
        let mut headers = None;
        self.resolve(|_, file, _| headers = Some(headers.unwrap_or(true) && file.is_some_and(is_header)));
        headers.unwrap_or(false)
    }

    /// The functions there, inlined ones first.
    fn resolve(self, mut f: impl FnMut(Option<String>, Option<&str>, Option<u32>)) {
        // The call lies before the address it returns to.
        backtrace::resolve(self.0.wrapping_sub(1) as *mut c_void, |symbol| {
            let file = symbol.filename().and_then(Path::file_name).and_then(|name| name.to_str());
            f(symbol.name().map(|name| name.to_string()), file, symbol.lineno());
        });
    }
}

fn is_header(file: &str) -> bool {
    file.starts_with("doca_") && file.ends_with(".h")
}

impl std::fmt::Display for Place {
    /// `function (file.c:12)`, as much of it as debug information says.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut words: Option<(bool, String)> = None;
        self.resolve(|name, file, line| {
            // The innermost function that is the program's own.
            if words.as_ref().is_some_and(|(header, _)| !header) {
                return;
            }
            let header = file.is_some_and(is_header);
            match (name, file, line) {
                (Some(name), Some(file), Some(line)) => {
                    words = Some((header, format!("{name} ({file}:{line})")))
                }
                (Some(name), ..) => words = Some((false, name)),
                _ => {}
            }
        });
        match words {
            Some((_, words)) => f.write_str(&words),
            None => write!(f, "{:#x}", self.0),
        }
    }
}
