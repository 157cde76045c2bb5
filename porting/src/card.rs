//! The card: its libraries, and its functions as a machine that programs open sessions on.

use crate::abi::{AesGcm, Comch, Common, Compress, Dma, Ec, Events, Object, Representors, Sha, entries};
use crate::board::CardBoard;
use crate::maps::Maps;
use crate::{channel, events, sharing};
use core::fmt;
use softdpu::{Board, Code, Error, Result, Session};
use softdpu_card::{EngineKind, Machine, View};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

/// The card of this machine, through the libraries that are installed for it.
pub struct Card {
    pub(crate) common: Common,
    pub(crate) events: Option<Events>,
    pub(crate) representors: Option<Representors>,
    pub(crate) comch: Option<Comch>,
    pub(crate) dma: Option<Dma>,
    pub(crate) sha: Option<Sha>,
    pub(crate) compress: Option<Compress>,
    pub(crate) ec: Option<Ec>,
    pub(crate) aes_gcm: Option<AesGcm>,
    pub(crate) maps: Maps,
    /// Opened devices by address. They stay open.
    devices: Mutex<HashMap<String, Object>>,
    folder: Option<OsString>,
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Card").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// What is loaded, or why it is not.
static CARD: OnceLock<Result<&'static Card>> = OnceLock::new();

impl Card {
    /// Loads the libraries, once per process: from where the dynamic linker finds them, or from the folder that
    /// `SOFTDPU_CARD_LIBRARIES` names.
    ///
    /// # Errors
    /// NotFound; the log line says which library is missing or lacks what.
    pub fn load() -> Result<&'static Card> {
        Card::load_from(
            std::env::var_os("SOFTDPU_CARD_LIBRARIES").filter(|f| !f.is_empty()).as_deref().map(Path::new),
        )
    }

    /// As [`Card::load`], from a folder. What was loaded first stays, whatever is asked for later.
    ///
    /// # Errors
    /// As [`Card::load`].
    pub fn load_from(folder: Option<&Path>) -> Result<&'static Card> {
        *CARD.get_or_init(|| {
            let path = |name: &str| match folder {
                Some(folder) => folder.join(name).into_os_string(),
                None => name.into(),
            };
            let common = Common::load(&path(Common::LIBRARY)).map_err(|why| {
                log::error!(target: "softdpu::bridge", "the libraries of a card cannot be used: {why}");
                Error::new(Code::NotFound, "the libraries of a card cannot be used")
            })?;
            let card = Card {
                common,
                events: optional(Events::load(&path(Events::LIBRARY))),
                representors: optional(Representors::load(&path(Representors::LIBRARY))),
                comch: optional(Comch::load(&path(Comch::LIBRARY))),
                dma: optional(Dma::load(&path(Dma::LIBRARY))),
                sha: optional(Sha::load(&path(Sha::LIBRARY))),
                compress: optional(Compress::load(&path(Compress::LIBRARY))),
                ec: optional(Ec::load(&path(Ec::LIBRARY))),
                aes_gcm: optional(AesGcm::load(&path(AesGcm::LIBRARY))),
                maps: Maps::default(),
                devices: Mutex::default(),
                folder: folder.map(|f| f.as_os_str().to_owned()),
            };
            let card: &'static Card = Box::leak(Box::new(card));
            softdpu_memory::real::drive(Box::leak(Box::new(sharing::Sharing(card))));
            softdpu_sync_event::real::drive(Box::leak(Box::new(events::Sharing(card))));
            softdpu_comch::real::drive(Box::leak(Box::new(channel::Sharing(card))));
            softdpu_memory::region::when_closed(|region| {
                if let Some(Ok(card)) = CARD.get() {
                    card.maps.forget(&card.common, region);
                }
            });
            Ok(card)
        })
    }

    /// A session on its functions, with worker threads.
    ///
    /// # Errors
    /// NotFound when there are none.
    pub fn session(&'static self) -> Result<Session> {
        static BOARD: OnceLock<CardBoard> = OnceLock::new();
        let board = BOARD.get_or_init(|| CardBoard { card: self, workers: softdpu_board::threads() });
        self.on(board)
    }

    /// A session on its functions without any thread: the card is looked at inside progress.
    ///
    /// # Errors
    /// As [`Card::session`].
    pub fn session_without_threads(&'static self) -> Result<Session> {
        static BOARD: OnceLock<CardBoard> = OnceLock::new();
        let board = BOARD.get_or_init(|| CardBoard { card: self, workers: softdpu_board::inline() });
        self.on(board)
    }

    fn on(&'static self, board: &'static CardBoard) -> Result<Session> {
        let (text, view) = self.described()?;
        log::debug!(target: "softdpu::bridge", "the card:\n{text}");
        let machine = Machine::builder().config_text(text).view(view).real().build().map_err(|cause| {
            log::error!(target: "softdpu::bridge", "the card describes itself in a way that is not understood: {cause}");
            Error::new(Code::Driver, "the card describes itself in a way that is not understood")
        })?;
        Ok(Session::new(machine, Board::from(board as &'static dyn softdpu_room::board::Board)))
    }

    /// Its functions as a topology, and which of them are to be seen. Functions that take servers are the card's own, and
    /// what they represent is on the host.
    fn described(&self) -> Result<(String, View)> {
        let mut text = String::from("[[card]]\nname = \"card\"\nprofile = \"all\"\nmode = \"dpu\"\n");
        let (mut own, mut hosts) = (Vec::new(), Vec::new());
        self.each(|info| {
            let Some(pci) = self.pci(info) else { return };
            let serves = self.comch.as_ref().is_some_and(|comch| comch.serves(info));
            let (side, known) = if serves { ("dpu", &mut own) } else { ("host", &mut hosts) };
            known.push(pci.clone());
            let _ = write!(text, "\n[[card.function]]\nside = \"{side}\"\npci = \"{pci}\"\n");
            let mut name = [0; 256];
            if self.common.doca_devinfo_get_iface_name(info, &mut name, 256) == 0 && name[0] != 0 {
                let _ = writeln!(text, "iface = {:?}", words(&name));
            }
            let mut name = [0; 64];
            if self.common.doca_devinfo_get_ibdev_name(info, &mut name, 64) == 0 && name[0] != 0 {
                let _ = writeln!(text, "ibdev = {:?}", words(&name));
            }
            let mut absent: Vec<&str> = EngineKind::ALL.iter().map(|kind| kind.name()).collect();
            let mut limits = String::new();
            let driven = [
                self.events.as_ref().and_then(|events| events.limits(info)),
                self.comch.as_ref().and_then(|comch| comch.limits(info)),
                self.dma.as_ref().and_then(|dma| dma.limits(info)),
                self.sha.as_ref().and_then(|sha| sha.limits(info)),
                self.compress.as_ref().and_then(|compress| compress.limits(info)),
                self.ec.as_ref().and_then(|ec| ec.limits(info)),
                self.aes_gcm.as_ref().and_then(|aes_gcm| aes_gcm.limits(info)),
            ];
            for found in driven.into_iter().flatten() {
                absent.retain(|name| *name != found.engine && !found.features.contains(name));
                absent.extend(&found.lacks);
                let _ = writeln!(limits, "[card.function.limits.{}]", found.engine);
                for (name, value) in found.limits {
                    let _ = writeln!(limits, "{name} = {value}");
                }
            }
            let _ = writeln!(text, "without = {absent:?}\n{limits}");
        })?;
        if own.is_empty() && hosts.is_empty() {
            log::error!(target: "softdpu::bridge", "the libraries of the card show no device");
            return Err(Error::new(Code::NotFound, "the libraries of the card show no device"));
        }
        // On the card itself the host's functions are no devices, but servers name them.
        let view = if hosts.is_empty() { View::Dpu } else { View::Both };
        for pci in own {
            self.represented(&pci, |host| {
                if !hosts.contains(&host) {
                    let _ = write!(
                        text,
                        "\n[[card.function]]\nside = \"host\"\npci = \"{host}\"\nrepresented_on = \"{pci}\"\n"
                    );
                    hosts.push(host);
                }
            });
        }
        Ok((text, view))
    }

    /// Shows the addresses of the functions that one of the card's own represents.
    fn represented(&self, pci: &str, mut look: impl FnMut(String)) {
        let Some(representors) = &self.representors else { return };
        // What cannot be asked is not there; the log line says why.
        let _ = self.device(pci).and_then(|device| representors.each(device, |_, host| look(host)));
    }

    /// The device at an address, opened.
    pub(crate) fn device(&self, pci: &str) -> Result<Object> {
        let mut devices = self.devices.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(device) = devices.get(pci) {
            return Ok(*device);
        }
        let mut answer = Err(Error::new(Code::NotFound, "the card has no such device any more"));
        self.each(|info| {
            if self.pci(info).as_deref() == Some(pci) && answer.is_err() {
                let mut device = None;
                let status = self.common.doca_dev_open(info, &mut device);
                answer = made(status, device, "doca_dev_open");
            }
        })?;
        let device = answer?;
        devices.insert(pci.to_owned(), device);
        Ok(device)
    }

    /// Shows every device of the card.
    fn each(&self, mut look: impl FnMut(Object)) -> Result<()> {
        let (mut list, mut count) = (None, 0);
        let status = self.common.doca_devinfo_create_list(&mut list, &mut count);
        // A card without functions may have no list.
        let Some(list) = list.filter(|_| status == 0) else {
            return check(status, "doca_devinfo_create_list");
        };
        entries(list, count).into_iter().for_each(&mut look);
        check(self.common.doca_devinfo_destroy_list(list), "doca_devinfo_destroy_list")
    }

    fn pci(&self, info: Object) -> Option<String> {
        let mut text = [0; 13];
        let status = self.common.doca_devinfo_get_pci_addr_str(info, &mut text);
        (status == 0).then(|| words(&text).to_lowercase())
    }
}

/// What an engine of a function reports.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) engine: &'static str,
    /// Names of the engine's features, which the engine's own name stands for.
    pub(crate) features: &'static [&'static str],
    /// Features it does not have.
    pub(crate) lacks: Vec<&'static str>,
    pub(crate) limits: Vec<(&'static str, u64)>,
}

/// An engine whose library is not there is one that the card does not have.
fn optional<T>(loaded: core::result::Result<T, String>) -> Option<T> {
    loaded.map_err(|why| log::info!(target: "softdpu::bridge", "an engine is left out: {why}")).ok()
}

/// Text up to its end.
pub(crate) fn words(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// What a call answered, as an error of ours.
pub(crate) fn check(status: i32, call: &'static str) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    let code = Code::from_number(status).unwrap_or(Code::Unknown);
    log::error!(target: "softdpu::bridge", "{call} answers {status} ({code:?})");
    Err(Error::new(code, call))
}

/// The object that a call made.
pub(crate) fn made(status: i32, object: Option<Object>, call: &'static str) -> Result<Object> {
    check(status, call)?;
    object.ok_or(Error::new(Code::Driver, call))
}
