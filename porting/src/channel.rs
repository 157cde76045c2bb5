//! The channel between host and card: servers and clients of the card's library, and the messages between them.
//!
//! Each has a progress engine of its own. What its callbacks are told they leave in a place of the thread that progresses it,
//! since only progress calls them; from there it goes to whoever looked.

mod end;

use crate::abi::{Comch, Object, Representors, entries};
use crate::card::{Card, Found, check, made, words};
use end::{End, Kind};
use softdpu::{Code, Error, Result};
use softdpu_card::PciAddr;
use softdpu_comch::real::{RealChannels, RealEnd, Wanted};
use softdpu_memory::device::Device;
use std::ffi::CString;

/// Names of what a function may be able to do, in a topology. Producers and consumers the bridge leaves out.
const FEATURES: &[&str] = &["comch_server", "comch_client", "comch_producer", "comch_consumer"];
/// Network functions.
const NET: i32 = 1 << 1;

impl Comch {
    /// What a function reports of the channel.
    pub(crate) fn limits(&self, info: Object) -> Option<Found> {
        let (serves, calls) = (self.serves(info), self.doca_comch_cap_client_is_supported(info) == 0);
        if !serves && !calls {
            return None;
        }
        let ask = |call: fn(&Comch, Object, &mut u32) -> i32| {
            let mut value = 0;
            if call(self, info, &mut value) == 0 { u64::from(value) } else { 0 }
        };
        let limits = [
            crate::engines::limit("max_name_len", ask(Comch::doca_comch_cap_get_max_name_len), 256),
            crate::engines::limit("max_msg_size", ask(Comch::doca_comch_cap_get_max_msg_size), 1 << 20),
            crate::engines::limit(
                "max_recv_queue_size",
                ask(Comch::doca_comch_cap_get_max_recv_queue_size),
                1 << 16,
            ),
            crate::engines::limit("max_clients", ask(Comch::doca_comch_cap_get_max_clients), 65_535),
            crate::engines::limit("max_send_tasks", ask(Comch::doca_comch_cap_get_max_send_tasks), 1 << 16),
        ];
        let mut lacks = vec!["comch_producer", "comch_consumer"];
        if !serves {
            lacks.push("comch_server");
        }
        if !calls {
            lacks.push("comch_client");
        }
        Some(Found {
            engine: "comch",
            features: FEATURES,
            lacks,
            limits: limits.into_iter().flatten().collect(),
        })
    }

    /// Can servers run there? Then it is a function of the card's own side.
    pub(crate) fn serves(&self, info: Object) -> bool {
        self.doca_comch_cap_server_is_supported(info) == 0
    }
}

/// The card, for those who talk through it.
#[derive(Debug)]
pub(crate) struct Sharing(pub(crate) &'static Card);

impl Sharing {
    fn tables(&self) -> Result<(&'static Comch, &'static Representors)> {
        let missing = Error::new(Code::NotSupported, "the card's library for the channel is missing");
        Ok((self.0.comch.as_ref().ok_or(missing)?, self.0.representors.as_ref().ok_or(missing)?))
    }
}

fn name_of(wanted: &Wanted<'_>) -> Result<CString> {
    CString::new(wanted.name).map_err(|_| Error::new(Code::InvalidValue, "a zero in a name"))
}

impl RealChannels for Sharing {
    fn server(&self, device: &Device, host: PciAddr, wanted: Wanted<'_>) -> Result<Box<dyn RealEnd>> {
        let (comch, representors) = self.tables()?;
        let device = self.0.device(&device.function().pci().to_string())?;
        let name = name_of(&wanted)?;
        let representor = representors.open(device, host)?;
        let mut server = None;
        let status = comch.doca_comch_server_create(device, representor, name.as_ptr().cast(), &mut server);
        let server = made(status, server, "doca_comch_server_create").inspect_err(|_| {
            let _ = check(representors.doca_dev_rep_close(representor), "doca_dev_rep_close");
        })?;
        let opened = Some((representors, representor));
        Ok(Box::new(End::start(&self.0.common, comch, &end::SERVER, server, opened, wanted)?))
    }

    fn client(&self, device: &Device, wanted: Wanted<'_>) -> Result<Box<dyn RealEnd>> {
        let (comch, _) = self.tables()?;
        let device = self.0.device(&device.function().pci().to_string())?;
        let name = name_of(&wanted)?;
        let mut client = None;
        let status = comch.doca_comch_client_create(device, name.as_ptr().cast(), &mut client);
        let client = made(status, client, "doca_comch_client_create")?;
        let kind: &'static Kind = &end::CLIENT;
        Ok(Box::new(End::start(&self.0.common, comch, kind, client, None, wanted)?))
    }
}

impl Representors {
    /// Shows the functions of the other side that a device represents.
    pub(crate) fn each(&self, device: Object, mut look: impl FnMut(Object, String)) -> Result<()> {
        let (mut list, mut count) = (None, 0);
        let status = self.doca_devinfo_rep_create_list(device, NET, &mut list, &mut count);
        // A device without any may have no list.
        let Some(list) = list.filter(|_| status == 0) else {
            return check(status, "doca_devinfo_rep_create_list");
        };
        for info in entries(list, count) {
            let mut text = [0; 13];
            if self.doca_devinfo_rep_get_pci_addr_str(info, &mut text) == 0 {
                look(info, words(&text).to_lowercase());
            }
        }
        check(self.doca_devinfo_rep_destroy_list(list), "doca_devinfo_rep_destroy_list")
    }

    /// The representor of a host function, opened.
    fn open(&self, device: Object, host: PciAddr) -> Result<Object> {
        let host = host.to_string();
        let mut answer = Err(Error::new(Code::NotFound, "the card has no such representor any more"));
        self.each(device, |info, pci| {
            if pci == host && answer.is_err() {
                let mut representor = None;
                let status = self.doca_dev_rep_open(info, &mut representor);
                answer = made(status, representor, "doca_dev_rep_open");
            }
        })?;
        answer
    }
}
