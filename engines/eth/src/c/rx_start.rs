//! Receive queues: what the program said, and what becomes of it when the queue starts.

use super::rx_setup::{PacketHandler, PacketsHandler};
use super::{lock, refuse};
use crate::caps::RxCaps;
use crate::rxq::{
    EthRxq, MOST_PACKETS, Managed, Mode, Packets, Pool, Report, RxDesk, RxSetup, Shelf, Told, Want,
};
use crate::sync::{AtomicPtr, AtomicU32, Ordering::Relaxed};
use core::ptr::null as nil;
use softdpu_memory::handle::{Object, Slab, kind};
use softdpu_memory::node::Node;
use softdpu_memory::region::Region;
use softdpu_net::Queue;
use softdpu_room::context::Core;
use softdpu_room::life::Equipment;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex};

/// The one kind of task.
pub(super) const RECV: usize = 0;

// SAFETY: repr(C), head first.
unsafe impl Object for Report {
    const KIND: u32 = kind::ETH_EVENT;
    const NAME: &'static str = "receive event";
}
// SAFETY: repr(C), head first.
unsafe impl Object for Packets {
    const KIND: u32 = kind::ETH_PACKETS;
    const NAME: &'static str = "packet array";
}
static REPORTS: Slab<Report> = Slab::new();
static ARRAYS: Slab<Packets> = Slab::new();

/// Who is told of packets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handlers {
    Single { calls: [PacketHandler; 2], user: u64 },
    Batch { calls: [PacketsHandler; 2], user: u64, batch: (usize, usize) },
}

impl Handlers {
    pub(super) fn is_batch(&self) -> bool {
        matches!(self, Handlers::Batch { .. })
    }
}

/// What the program said of a queue.
#[derive(Debug)]
pub(super) struct RxSettings {
    pub(super) managed: bool,
    pub(super) max_burst: u32,
    pub(super) max_packet: u32,
    pub(super) want: Want,
    pub(super) headroom: u16,
    pub(super) tailroom: u16,
    pub(super) list_len: u32,
    /// Map, offset, length.
    pub(super) memory: Option<(&'static Region, u64, u64)>,
    pub(super) tasks: u32,
    pub(super) handlers: Option<Handlers>,
}

/// What a receive queue has beside its context.
#[derive(Debug)]
pub(super) struct RxPart {
    pub(super) settings: Mutex<RxSettings>,
    desk: Mutex<Option<Arc<RxDesk>>>,
    number: AtomicU32,
}

/// Numbers that the card gives its queues.
static NUMBERS: AtomicU32 = AtomicU32::new(1);

impl RxPart {
    pub(super) fn new(max_burst: u32, max_packet: u32) -> RxPart {
        let settings = RxSettings {
            managed: false,
            max_burst,
            max_packet,
            want: Want::default(),
            headroom: 0,
            tailroom: 0,
            list_len: 1,
            memory: None,
            tasks: 0,
            handlers: None,
        };
        RxPart {
            settings: Mutex::new(settings),
            desk: Mutex::new(None),
            number: AtomicU32::new(NUMBERS.fetch_add(1, Relaxed)),
        }
    }

    /// The queue of the port.
    ///
    /// # Errors
    /// BadState unless it is started.
    pub(super) fn queue(&self, call: &str) -> Result<Arc<Queue>> {
        let queue = lock(&self.desk).as_ref().and_then(|desk| desk.queue());
        queue.ok_or_else(|| {
            log::error!(target: crate::LOG, "{call}: the queue is not started");
            Error::new(Code::BadState, "the queue is not started")
        })
    }

    pub(super) fn hardware_number(&self) -> u32 {
        self.number.load(Relaxed)
    }

    /// Lets go of what an earlier run worked with. The context is idle.
    fn clear(&self) {
        if let Some(desk) = lock(&self.desk).take()
            && let Mode::Managed(managed) = &desk.setup.mode
        {
            retire(managed.report, managed.shelf.as_deref());
        }
    }
}

impl Drop for RxPart {
    fn drop(&mut self) {
        self.clear();
    }
}

fn retire(report: &'static Report, shelf: Option<&Shelf>) {
    // SAFETY: both slabs' own; their queue is idle, so that no event refers to them.
    unsafe {
        for array in shelf.map(Shelf::clear).unwrap_or_default() {
            ARRAYS.retire_at(array);
        }
        REPORTS.retire_at(report);
    }
}

/// Calls the handlers of the program.
fn tell(report: &'static Report, told: Told) {
    let [success, error] = report.handlers;
    // SAFETY: the handlers were given as functions of these types, by the registration that the shape of the report stands
    // for; nothing of ours is borrowed or locked here.
    unsafe {
        let single = |at: usize| core::mem::transmute::<usize, PacketHandler>(at);
        let many = |at: usize| core::mem::transmute::<usize, PacketsHandler>(at);
        match told {
            Told::Packet(packet) => single(success)(report, packet.handle(), report.user),
            Told::Packets(array, count) => many(success)(report, count, report.user, 0, array.items.as_ptr()),
            Told::Failed(code) if report.batch => many(error)(report, 0, report.user, code.number(), nil()),
            Told::Failed(_) => single(error)(report, nil(), report.user),
        }
    }
}

fn lacks<T>(core: &Core, what: &'static str) -> Result<T> {
    refuse(Code::InvalidValue, what, format_args!("doca_ctx_start: receive queue {core:p}: {what}"))
}

/// Makes the engine when it starts.
pub(super) fn start(core: &'static Core) -> Result<Equipment> {
    // SAFETY: set as the starter of receive queues alone, which have a part of this type.
    let part = unsafe { super::part::<RxPart>(core) };
    part.clear();
    let settings = lock(&part.settings);
    let mode = if settings.managed {
        Mode::Managed(manage(core, &settings)?)
    } else if settings.tasks == 0 {
        return lacks(core, "task_recv_set_conf is missing");
    } else {
        Mode::Posted { list_len: settings.list_len }
    };
    let setup = RxSetup {
        mode,
        max_packet: settings.max_packet,
        max_burst: settings.max_burst.max(settings.tasks),
        want: settings.want,
    };
    let desk = RxDesk::new(core.device(), setup)?;
    *lock(&part.desk) = Some(desk.clone());
    let tasks = if settings.managed { 0 } else { settings.tasks };
    Ok((EthRxq::work(core.device(), desk), vec![(RECV as u8, tasks)]))
}

/// What a managed queue works with.
fn manage(core: &'static Core, settings: &RxSettings) -> Result<Managed> {
    let Some((region, offset, len)) = settings.memory else { return lacks(core, "set_pkt_buf is missing") };
    let Some(handlers) = settings.handlers else {
        return lacks(core, "handlers of receive events are missing");
    };
    let limit = RxCaps::of(core.device().function())?.max_managed_packet_size;
    let window = u32::from(settings.headroom) + settings.max_packet + u32::from(settings.tailroom);
    if window > limit {
        let line = format_args!(
            "doca_ctx_start: receive queue {core:p}: headroom, packet and tailroom take {window} bytes, at most {limit}"
        );
        return refuse(Code::InvalidValue, "headroom, packet and tailroom are too long", line);
    }
    let pool = Pool::new(region, offset, len, settings.headroom.into(), window as usize)?;
    let (batch, pair, user, many) = match handlers {
        Handlers::Single { calls, user } => ((1, 1), calls.map(|f| f as usize), user, false),
        Handlers::Batch { calls, user, batch } => (batch, calls.map(|f| f as usize), user, true),
    };
    if batch.0 > pool.count() as usize {
        let line = format_args!(
            "doca_ctx_start: receive queue {core:p}: packet memory for {} packets, events have {} or more",
            pool.count(),
            batch.0
        );
        return refuse(Code::InvalidValue, "packet memory too small", line);
    }
    let report = Report::new(core, settings.want, batch.1.min(MOST_PACKETS), (tell, many), pair, user)?;
    let report = REPORTS.make(report)?;
    // SAFETY: places of slabs are never given back.
    let report: &'static Report = unsafe { &*report.as_ptr() };
    let shelf = if many { Some(shelf(&pool, batch.0).inspect_err(|_| retire(report, None))?) } else { None };
    Ok(Managed { pool, report, shelf, batch })
}

/// As many arrays as the packets of the pool can fill.
fn shelf(pool: &Pool, least: usize) -> Result<Arc<Shelf>> {
    let shelf = Arc::new(Shelf::default());
    let mut arrays: Vec<&'static Packets> = Vec::new();
    let count = Shelf::size(pool.count(), least);
    let mut made = arrays
        .try_reserve_exact(count)
        .map_err(|_| Error::new(Code::NoMemory, "no memory for packet arrays"));
    for number in 0..count as u32 {
        made = made.and_then(|()| {
            let array = ARRAYS.make(Packets::new(number, &shelf))?;
            // SAFETY: places of slabs are never given back.
            arrays.push(unsafe { &*array.as_ptr() });
            Ok(())
        });
    }
    let stocked = made.and_then(|()| shelf.stock(arrays.clone()));
    // SAFETY: the slab's own; nobody has them yet.
    stocked.inspect_err(|_| arrays.into_iter().for_each(|array| unsafe { ARRAYS.retire_at(array) }))?;
    Ok(shelf)
}

/// The array that a program knows by its items.
///
/// # Safety
/// NULL, or the items of an array of this library.
pub(super) unsafe fn array_of(items: *const AtomicPtr<Node>) -> *const Packets {
    if items.is_null() {
        return nil();
    }
    items.cast::<u8>().wrapping_sub(core::mem::offset_of!(Packets, items)).cast()
}
