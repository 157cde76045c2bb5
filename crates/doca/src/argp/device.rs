//! DEVICE and DEVICE_REP values: `pci/<bdf>[,devargs]` and `pci/<bdf>,<representor>[,devargs]`.
//!
//! The text is checked when the input is read; the device is opened only when its flag is carried out. The
//! program closes what it was handed. Devices are reached through the public entry points, so that a
//! library preloaded over them sees these opens too.
#![expect(unsafe_code, reason = "calls C entry points")]

use super::model::{Refusal, lossy};
use softdpu_status::Code;
use std::ffi::{CString, c_char, c_int, c_void};

/// `doca_argp_dev_open_cb_t`.
pub type DevOpenCallback =
    unsafe extern "C" fn(info: *mut c_void, usr_ctx: *mut c_void, dev: *mut *mut c_void) -> c_int;

unsafe extern "C" {
    fn doca_devinfo_create_list(list: *mut *mut *mut c_void, count: *mut u32) -> c_int;
    fn doca_devinfo_destroy_list(list: *mut *mut c_void) -> c_int;
    fn doca_devinfo_is_equal_pci_addr(info: *const c_void, text: *const c_char, equal: *mut u8) -> c_int;
    fn doca_devinfo_get_pci_addr_str(info: *const c_void, text: *mut c_char) -> c_int;
    fn doca_dev_open(info: *mut c_void, dev: *mut *mut c_void) -> c_int;
    fn doca_dev_close(dev: *mut c_void) -> c_int;
    fn doca_devinfo_rep_create_list(
        dev: *mut c_void,
        filter: c_int,
        list: *mut *mut *mut c_void,
        count: *mut u32,
    ) -> c_int;
    fn doca_devinfo_rep_destroy_list(list: *mut *mut c_void) -> c_int;
    fn doca_devinfo_rep_get_iface_name(info: *const c_void, text: *mut c_char, size: u32) -> c_int;
    fn doca_dev_rep_open(info: *mut c_void, rep: *mut *mut c_void) -> c_int;
}

/// `DOCA_DEVINFO_PCI_ADDR_SIZE` and `DOCA_DEVINFO_REP_IFACE_NAME_SIZE`.
const PCI_SIZE: usize = 13;
const IFACE_SIZE: usize = 256;

/// A DEVICE value as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DeviceText {
    pub(crate) pci: CString,
    pub(crate) devargs: Option<CString>,
}

/// A DEVICE_REP value as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RepText {
    pub(crate) device: DeviceText,
    /// Such as `pf0`, `pf0vf1`, `pf0sf2`, `pf0hpf`.
    pub(crate) representor: String,
}

impl DeviceText {
    /// Reads `pci/<bdf>[,devargs]`; the error ends a sentence that begins with the value.
    pub(crate) fn read(text: &[u8]) -> Result<Self, &'static str> {
        let rest = text.strip_prefix(b"pci/").ok_or("does not begin with pci/")?;
        let (pci, devargs) = cut(rest);
        Ok(Self { pci: address(pci)?, devargs: arguments(devargs)? })
    }
}

impl RepText {
    /// Reads `pci/<bdf>,<representor>[,devargs]`.
    pub(crate) fn read(text: &[u8]) -> Result<Self, &'static str> {
        let rest = text.strip_prefix(b"pci/").ok_or("does not begin with pci/")?;
        let (pci, rest) = cut(rest);
        let (representor, devargs) = cut(rest.ok_or("names no representor after the device")?);
        let representor = std::str::from_utf8(representor).ok().filter(|name| is_representor(name));
        Ok(Self {
            device: DeviceText { pci: address(pci)?, devargs: arguments(devargs)? },
            representor: representor
                .ok_or("names no representor of the form pf0, pf0vf1, pf0sf2, pf0hpf")?
                .into(),
        })
    }
}

fn cut(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == b',') {
        Some(comma) => (&text[..comma], Some(&text[comma + 1..])),
        None => (text, None),
    }
}

/// `[DDDD:]BB:DD.F` in hexadecimal digits.
fn address(text: &[u8]) -> Result<CString, &'static str> {
    let shape: &[u8] = if text.len() == 12 { b"xxxx:xx:xx.x" } else { b"xx:xx.x" };
    let fits = text.len() == shape.len()
        && text.iter().zip(shape).all(|(byte, want)| match want {
            b'x' => byte.is_ascii_hexdigit(),
            want => byte == want,
        });
    if !fits {
        return Err("has no PCI address of the form 0000:03:00.0 or 03:00.0");
    }
    CString::new(text).map_err(|_| "has a zero byte")
}

fn arguments(text: Option<&[u8]>) -> Result<Option<CString>, &'static str> {
    text.filter(|text| !text.is_empty()).map(CString::new).transpose().map_err(|_| "has a zero byte")
}

/// `pf<N>` and any number of parts made of `vf`, `sf`, `hpf`, `pf` and a number (which `hpf` may lack).
fn is_representor(name: &str) -> bool {
    fn digits(text: &str) -> usize {
        text.bytes().take_while(u8::is_ascii_digit).count()
    }
    let Some(mut rest) = name.strip_prefix("pf") else { return false };
    let first = digits(rest);
    rest = &rest[first..];
    let mut whole = first > 0;
    while whole && !rest.is_empty() {
        let (tail, bare) = match ["hpf", "vf", "sf", "pf"].iter().find_map(|part| rest.strip_prefix(part)) {
            Some(tail) => (tail, rest.starts_with("hpf")),
            None => return false,
        };
        let number = digits(tail);
        whole = number > 0 || bare;
        rest = &tail[number..];
    }
    whole
}

/// How devices are opened: by the library, or by the program's callback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opener {
    pub(crate) callback: Option<DevOpenCallback>,
    pub(crate) usr_ctx: *mut c_void,
}

/// Why opening failed: ours, or the status of a call.
pub(crate) enum Failed {
    Refused(Refusal),
    Status(c_int, String),
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A list of device descriptions that goes with its scope.
struct List {
    items: *mut *mut c_void,
    count: u32,
    destroy: unsafe extern "C" fn(*mut *mut c_void) -> c_int,
}

impl List {
    fn iter(&self) -> impl Iterator<Item = *mut c_void> + '_ {
        let count = if self.items.is_null() { 0 } else { self.count as usize };
        // SAFETY: the creating call filled `count` entries, which live until the list is destroyed.
        (0..count).map(|i| unsafe { self.items.add(i).read() })
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if !self.items.is_null() {
            // SAFETY: made by the creating call that belongs to `destroy`, and given back once.
            unsafe { (self.destroy)(self.items) };
        }
    }
}

fn status(what: &str, status: c_int) -> Result<(), Failed> {
    if status == 0 { Ok(()) } else { Err(Failed::Status(status, what.to_owned())) }
}

impl Opener {
    /// Opens the device; the caller of the parser closes it.
    pub(crate) fn open(&self, text: &DeviceText) -> Result<*mut c_void, Failed> {
        let mut items = std::ptr::null_mut();
        let mut count = 0;
        // SAFETY: live outputs.
        let listed = unsafe { doca_devinfo_create_list(&raw mut items, &raw mut count) };
        status("the list of devices cannot be made", listed)?;
        let list = List { items, count, destroy: doca_devinfo_destroy_list };
        let is_it = |info: &*mut c_void| {
            let mut equal = 0;
            // SAFETY: a description from the live list, a C string, a live output.
            let asked = unsafe { doca_devinfo_is_equal_pci_addr(*info, text.pci.as_ptr(), &raw mut equal) };
            asked == 0 && equal != 0
        };
        let Some(info) = list.iter().find(is_it) else {
            let known: Vec<_> = list.iter().map(pci_address).collect();
            let reason = format!(
                "device {} is not there; present are: {}",
                text.pci.to_string_lossy(),
                if known.is_empty() { "none".into() } else { known.join(", ") }
            );
            log::error!(target: "softdpu::argp", "{reason}");
            return Err(Refusal::new(Code::NotFound, reason).into());
        };
        let mut dev = std::ptr::null_mut();
        let opened = match self.callback {
            // SAFETY: the program's callback by its contract; a live description and output.
            Some(callback) => unsafe { callback(info, self.usr_ctx, &raw mut dev) },
            // SAFETY: a live description and output.
            None => unsafe { doca_dev_open(info, &raw mut dev) },
        };
        status("the device cannot be opened", opened)?;
        if dev.is_null() {
            let reason = "the open callback succeeded without giving a device";
            return Err(Refusal::new(Code::Initialization, reason).into());
        }
        Ok(dev)
    }

    /// Opens the device and its representor.
    pub(crate) fn open_representor(&self, text: &RepText) -> Result<(*mut c_void, *mut c_void), Failed> {
        let dev = self.open(&text.device)?;
        let opened = representor(dev, text);
        if opened.is_err() && self.callback.is_none() {
            // SAFETY: opened above and handed to nobody.
            unsafe { doca_dev_close(dev) };
        }
        opened.map(|rep| (dev, rep))
    }
}

fn representor(dev: *mut c_void, text: &RepText) -> Result<*mut c_void, Failed> {
    const FILTER_ALL: c_int = 0;
    let mut items = std::ptr::null_mut();
    let mut count = 0;
    // SAFETY: an open device and live outputs.
    let listed = unsafe { doca_devinfo_rep_create_list(dev, FILTER_ALL, &raw mut items, &raw mut count) };
    status("the list of representors cannot be made", listed)?;
    let list = List { items, count, destroy: doca_devinfo_rep_destroy_list };
    let named = |name: &str| list.iter().find(|info| interface(*info) == name);
    // `pf0` is the host's own function, whose representor the card calls `pf0hpf`.
    let found = named(&text.representor).or_else(|| named(&format!("{}hpf", text.representor)));
    let Some(info) = found else {
        let known: Vec<_> = list.iter().map(interface).collect();
        let reason = format!(
            "device {} has no representor {}; present are: {}",
            text.device.pci.to_string_lossy(),
            text.representor,
            if known.is_empty() { "none".into() } else { known.join(", ") }
        );
        log::error!(target: "softdpu::argp", "{reason}");
        return Err(Refusal::new(Code::NotFound, reason).into());
    };
    let mut rep = std::ptr::null_mut();
    // SAFETY: a live description and output.
    status("the representor cannot be opened", unsafe { doca_dev_rep_open(info, &raw mut rep) })?;
    Ok(rep)
}

fn pci_address(info: *mut c_void) -> String {
    let mut text = [0u8; PCI_SIZE];
    // SAFETY: a live description and room of the size the call asks for.
    let asked = unsafe { doca_devinfo_get_pci_addr_str(info, text.as_mut_ptr().cast()) };
    read_text(asked, &text)
}

fn interface(info: *mut c_void) -> String {
    let mut text = [0u8; IFACE_SIZE];
    // SAFETY: a live description and room of the given size.
    let asked = unsafe { doca_devinfo_rep_get_iface_name(info, text.as_mut_ptr().cast(), IFACE_SIZE as u32) };
    read_text(asked, &text)
}

fn read_text(status: c_int, text: &[u8]) -> String {
    let end = text.iter().position(|byte| *byte == 0).filter(|_| status == 0).unwrap_or(0);
    lossy(&text[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_in_both_forms() {
        let long = DeviceText::read(b"pci/0000:03:00.0,dv_flow_en=2,x=1").expect("device");
        assert_eq!(long.pci.as_bytes(), b"0000:03:00.0");
        assert_eq!(long.devargs.as_deref().map(std::ffi::CStr::to_bytes), Some(&b"dv_flow_en=2,x=1"[..]));
        let short = DeviceText::read(b"pci/3A:00.1").expect("device");
        assert_eq!((short.pci.as_bytes(), short.devargs), (&b"3A:00.1"[..], None));
        for bad in ["", "03:00.0", "pci/", "pci/03:00", "pci/03:00.0x", "pci/g3:00.0", "pci/0000:03-00.0"] {
            assert!(DeviceText::read(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn representors_are_read() {
        let rep = RepText::read(b"pci/0000:08:00.0,pf0vf12,a=b").expect("representor");
        assert_eq!(rep.representor, "pf0vf12");
        assert_eq!(rep.device.devargs.as_deref().map(std::ffi::CStr::to_bytes), Some(&b"a=b"[..]));
        for good in ["pf0", "pf1sf3", "pf0hpf", "pf0hpf1", "pf0hpfsf4"] {
            assert!(is_representor(good), "{good}");
        }
        for bad in ["", "pf", "vf0", "pf0vf", "pf0x", "pf0 ", "pf0vf1x"] {
            assert!(!is_representor(bad), "{bad:?}");
        }
        assert!(RepText::read(b"pci/03:00.0").is_err());
        assert!(RepText::read(b"pci/03:00.0,eth0").is_err());
    }
}
