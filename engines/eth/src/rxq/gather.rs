//! Frames become events of a managed queue of the C face. On the thread that progresses it alone.

use super::engine::{Array, Managed, RxDesk, forget};
use super::fill::fill;
use super::report::Told;
use crate::sync::Ordering::Relaxed;
use softdpu_memory::fault;
use softdpu_net::{Inlet, Taken};
use softdpu_status::Code;

/// What is gathered for the next event.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    array: Option<Array>,
    count: usize,
    /// A packet was lost; said once for all that were lost since.
    lost: Option<Code>,
}

impl Gatherer {
    /// Takes frames, as many as one event holds; the event once there are enough of them.
    pub(crate) fn event(&mut self, inlet: &mut Inlet, desk: &RxDesk, managed: &Managed) -> Option<Told> {
        if let Some(code) = self.lost.take() {
            return Some(Told::Failed(code));
        }
        let Some(shelf) = &managed.shelf else { return self.single(inlet, desk, managed) };
        if self.array.is_none() {
            if !inlet.is_due() || !managed.pool.has_free() {
                return None;
            }
            self.array = shelf.take(&managed.pool);
        }
        let array = self.array?;
        let (least, most) = managed.batch;
        let (count, lost) = (&mut self.count, &mut self.lost);
        inlet.receive(most - *count, |frame| {
            if desk.is_oversize(frame.len()) {
                return Taken::Yes;
            }
            let Some(node) = managed.pool.take() else { return Taken::Later };
            match fill(node, frame, &desk.gate) {
                Ok(len) => {
                    managed.report.note(*count, frame.meta());
                    array.put(*count, node);
                    managed.pool.hand_out(node, array.number);
                    *count += 1;
                    desk.count(len);
                }
                Err(error) => {
                    let _ = fault::take();
                    *lost = Some(error.code());
                    node.give_back_list();
                }
            }
            Taken::Yes
        });
        array.count.store(self.count as u16, Relaxed);
        desk.gathered.store(self.count as u32, Relaxed);
        if self.count < least {
            return None;
        }
        self.array = None;
        desk.gathered.store(0, Relaxed);
        Some(Told::Packets(array, core::mem::take(&mut self.count) as u16))
    }

    fn single(&mut self, inlet: &mut Inlet, desk: &RxDesk, managed: &Managed) -> Option<Told> {
        let mut told = None;
        inlet.receive(1, |frame| {
            if desk.is_oversize(frame.len()) {
                return Taken::Yes;
            }
            let Some(node) = managed.pool.take() else { return Taken::Later };
            told = Some(match fill(node, frame, &desk.gate) {
                Ok(len) => {
                    managed.report.note(0, frame.meta());
                    desk.count(len);
                    Told::Packet(crate::lent::lent(node))
                }
                Err(error) => {
                    let _ = fault::take();
                    node.give_back_list();
                    Told::Failed(error.code())
                }
            });
            Taken::Yes
        });
        told
    }

    /// What was gathered goes back.
    pub(crate) fn forget(&mut self, desk: &RxDesk) {
        self.lost = None;
        if let Some(array) = self.array.take() {
            forget(desk, array.live());
            self.count = 0;
            array.shelf.put(array);
        }
    }
}
