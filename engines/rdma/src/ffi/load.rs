//! Finding the library, and choosing a provider.
//!
//! Libraries that it brings along install handlers for signals of the program as soon as they are loaded; the program's
//! own are put back at once.
#![expect(unsafe_code, reason = "loads a C library and calls it")]

use super::abi::{
    CAP_MSG, DupInfo, EP_MSG, EP_RDM, Fabric, FreeInfo, GetInfo, Info, MODE_CONTEXT, MODE_CONTEXT2, MR_LOCAL,
    MR_OTHERS, NO_DATA, NUMERIC, OpenFabric, Ptr, SOURCE, THREAD_SAFE, VERSION, Version,
};
use super::object::{Begins, Own, text};
use core::ffi::{CStr, c_int};
use core::ptr::{NonNull, null, null_mut};
use std::ffi::CString;
use std::net::IpAddr;
use std::sync::{Once, OnceLock};

/// The functions that are found by name.
pub(crate) struct Library {
    get_info: GetInfo,
    dup_info: DupInfo,
    free_info: FreeInfo,
    open_fabric: OpenFabric,
    version: u32,
}

/// What is loaded, or why it is not.
static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();

const NAME: &CStr = c"libfabric.so.1";

/// The provider that is used: `tcp`, or what is named. Layers above a provider (`tcp;ofi_rxm`) are left out: they make
/// endpoints without connections out of those with, which is what is wanted here.
pub(crate) fn provider(named: Option<&str>) -> String {
    let provider = named.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if provider.is_empty() { "tcp".into() } else { provider.into() }
}

impl Library {
    /// Loads it, once. Takes a fraction of a second.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(crate) fn get() -> Result<&'static Library, &'static str> {
        let library = LIBRARY.get_or_init(load).as_ref().map_err(String::as_str)?;
        // The first question takes long, whatever it is; later ones must not.
        static WARM: Once = Once::new();
        WARM.call_once(|| drop(library.find("tcp", IpAddr::from([127, 0, 0, 1]), None, true)));
        Ok(library)
    }

    /// Its version.
    pub(crate) fn version(&self) -> (u32, u32) {
        (self.version >> 16, self.version & 0xffff)
    }

    /// Does the provider offer anything for this address of the machine?
    pub(crate) fn offers(&'static self, provider: &str, here: IpAddr) -> bool {
        self.find(provider, here, None, true).is_ok()
    }

    /// What the provider offers for an address: of this machine (`source`) or of a peer.
    pub(super) fn find(
        &'static self,
        provider: &str,
        ip: IpAddr,
        port: Option<u16>,
        source: bool,
    ) -> Result<Found, String> {
        let words = |word: String| CString::new(word).map_err(|_| "a zero byte in a name".to_owned());
        let node = words(ip.to_string())?;
        let service = port.map(|port| words(port.to_string())).transpose()?;
        let flags = NUMERIC | if source { SOURCE } else { 0 };
        let found = self.ask(EP_MSG, provider, (Some(&node), service.as_deref()), flags)?;
        found.map_err(|code| {
            let unconnected = |end| self.ask(end, provider, (None, None), 0).is_ok_and(|found| found.is_ok());
            if code == NO_DATA && !unconnected(EP_MSG) && unconnected(EP_RDM) {
                return format!(
                    "provider `{provider}` has unconnected endpoints (FI_EP_RDM) alone, connections need connected ones \
                     (FI_EP_MSG): choose `tcp`, `verbs` or another one that has them"
                );
            }
            format!("provider `{provider}` offers no connected endpoints for {ip}: {}", text(code))
        })
    }

    /// Asks for endpoints of a kind; the inner error is the library's code.
    fn ask(
        &'static self,
        kind: c_int,
        provider: &str,
        (node, service): (Option<&CStr>, Option<&CStr>),
        flags: u64,
    ) -> Result<Result<Found, c_int>, String> {
        let name = CString::new(provider).map_err(|_| "a zero byte in a name")?;
        // SAFETY: allocates a structure with all its parts.
        let hints = Found::new(self, unsafe { (self.dup_info)(null()) }).ok_or("no memory")?;
        let mut found = null_mut();
        // SAFETY: the structure is complete and ours; the name is freed by the library together with it, so it gets a
        // copy from the allocator that the library uses.
        let code = unsafe {
            let info = &mut *hints.raw();
            info.caps = CAP_MSG;
            info.mode = MODE_CONTEXT | MODE_CONTEXT2;
            (*info.ep).kind = kind;
            (*info.domain).threading = THREAD_SAFE;
            (*info.domain).mr_mode = MR_LOCAL | MR_OTHERS;
            (*info.fabric).provider = libc::strdup(name.as_ptr());
            let (node, service) = (node.map_or(null(), CStr::as_ptr), service.map_or(null(), CStr::as_ptr));
            (self.get_info)(VERSION, node, service, flags, info, &raw mut found)
        };
        Ok(Found::new(self, found).filter(|_| code == 0).ok_or(code))
    }

    /// What came with an event.
    pub(super) fn adopt(&'static self, info: *mut Info) -> Option<Found> {
        Found::new(self, info)
    }
}

/// A description of endpoints, as the library allocated it.
pub(super) struct Found {
    info: NonNull<Info>,
    library: &'static Library,
}

// SAFETY: plain data of our own.
unsafe impl Send for Found {}

impl Found {
    fn new(library: &'static Library, info: *mut Info) -> Option<Found> {
        NonNull::new(info).map(|info| Found { info, library })
    }

    pub(super) fn raw(&self) -> *mut Info {
        self.info.as_ptr()
    }

    /// Must local buffers be registered?
    pub(super) fn registers(&self) -> bool {
        // SAFETY: the library fills all parts.
        unsafe { (*(*self.raw()).domain).mr_mode & MR_LOCAL != 0 }
    }

    /// May a message lie in two places, of which one is memory of the program?
    pub(super) fn gathers(&self) -> bool {
        // SAFETY: the library fills all parts.
        !self.registers() && unsafe { (*(*self.raw()).tx).pieces } >= 2
    }

    /// Bytes of a message at most that the library copies, so that nothing has to be told of it afterwards.
    pub(super) fn copies(&self) -> usize {
        // SAFETY: the library fills all parts.
        unsafe { (*(*self.raw()).tx).inject }
    }

    /// Bytes of a message at most.
    pub(super) fn longest(&self) -> usize {
        // SAFETY: as above.
        unsafe { (*(*self.raw()).ep).max_msg }
    }

    /// Opens the fabric that it is of.
    pub(super) fn fabric(&self) -> Result<Own<Fabric>, String> {
        let mut fabric = null_mut();
        // SAFETY: the library fills all parts; on success it stores an open object.
        let made = unsafe {
            let code = (self.library.open_fabric)((*self.raw()).fabric, &raw mut fabric, null_mut());
            (code == 0).then(|| Own::new(fabric)).flatten().ok_or(code)
        };
        made.map_err(|code| format!("the fabric could not be opened: {}", text(code)))
    }
}

impl Drop for Found {
    fn drop(&mut self) {
        // SAFETY: ours, and nobody uses it afterwards.
        unsafe { (self.library.free_info)(self.raw()) }
    }
}

// SAFETY: declared so.
unsafe impl Begins for Fabric {}

/// Signals whose handlers libraries that come along are known to take.
const SIGNALS: c_int = 31;

fn load() -> Result<Library, String> {
    let handlers: Vec<_> = (1..=SIGNALS).map(handler).collect();
    // SAFETY: runs the initialisation of the library and of those that it needs. It is never unloaded.
    let handle = unsafe { libc::dlopen(NAME.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    let why = (handle.is_null()).then(last_error);
    restore(&handlers);
    if let Some(why) = why {
        return Err(format!("libfabric is not there ({why}); install it, on Debian the package libfabric1"));
    }
    // SAFETY: the functions have had these types in every version of the library.
    let library = unsafe {
        Library {
            get_info: core::mem::transmute::<Ptr, GetInfo>(symbol(handle, c"fi_getinfo")?),
            dup_info: core::mem::transmute::<Ptr, DupInfo>(symbol(handle, c"fi_dupinfo")?),
            free_info: core::mem::transmute::<Ptr, FreeInfo>(symbol(handle, c"fi_freeinfo")?),
            open_fabric: core::mem::transmute::<Ptr, OpenFabric>(symbol(handle, c"fi_fabric")?),
            version: core::mem::transmute::<Ptr, Version>(symbol(handle, c"fi_version")?)(),
        }
    };
    if library.version < VERSION {
        let (major, minor) = library.version();
        return Err(format!("libfabric {major}.{minor} is too old, needed 1.14"));
    }
    Ok(library)
}

fn symbol(handle: Ptr, name: &CStr) -> Result<Ptr, String> {
    // SAFETY: a library that was loaded, and a name.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if found.is_null() { Err(format!("libfabric has no {name:?}")) } else { Ok(found) }
}

fn last_error() -> String {
    // SAFETY: gives a string of this thread, or null.
    let text = unsafe { libc::dlerror() };
    // SAFETY: not null; read before this thread loads anything else.
    (!text.is_null())
        .then(|| unsafe { CStr::from_ptr(text) })
        .map_or_else(String::new, |text| text.to_string_lossy().into())
}

fn handler(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: zero is a value of the structure, which the call fills.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        (libc::sigaction(signal, null(), &raw mut action) == 0).then_some(action)
    }
}

/// Puts back what was changed.
fn restore(handlers: &[Option<libc::sigaction>]) {
    for (signal, before) in (1..).zip(handlers) {
        if let (Some(before), Some(now)) = (before, handler(signal))
            && before.sa_sigaction != now.sa_sigaction
        {
            // SAFETY: what was installed a moment ago.
            unsafe { libc::sigaction(signal, before, null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_of_the_program_stay_its_own() {
        let before: Vec<_> = (1..=SIGNALS).map(|s| handler(s).map(|h| h.sa_sigaction)).collect();
        match Library::get() {
            Err(why) => eprintln!("skipped: {why}"),
            Ok(library) => {
                assert!(library.version() >= (1, 14));
                let found = library.find("tcp", "127.0.0.1".parse().unwrap(), None, true).unwrap();
                assert!(found.longest() > 1 << 20);
                let why = library.find("nonsense", "127.0.0.1".parse().unwrap(), None, true).err().unwrap();
                assert!(why.contains("nonsense"), "{why}");
                // Where it is there, it has no connected ones.
                let why = library.find("shm", "127.0.0.1".parse().unwrap(), None, true).err().unwrap();
                assert!(why.contains("shm") && why.contains("connected endpoints"), "{why}");
                let there = library.ask(EP_RDM, "shm", (None, None), 0).unwrap().is_ok();
                assert_eq!(why.contains("FI_EP_MSG"), there, "{why}");
            }
        }
        let after: Vec<_> = (1..=SIGNALS).map(|s| handler(s).map(|h| h.sa_sigaction)).collect();
        assert_eq!(before, after);
    }
}
