//! Where the two ends of a measurement run: on two processors, this one on the first and its peer on the last, so that a
//! row does not depend on where the scheduler happens to put them. Packets of a socket draw both ends to one processor, and
//! then cost a tenth.
//!
//! A thread is put into its place once its end is made, and freed before it starts a process: what is started inherits the
//! place, and so would the threads of the library.

use std::marker::PhantomData;
use std::sync::OnceLock;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// An end of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The process that measures.
    Here,
    /// Its peer.
    There,
}

/// The processors that this process may use, as it was started.
fn all() -> Option<CpuSet> {
    static ALL: OnceLock<Option<CpuSet>> = OnceLock::new();
    *ALL.get_or_init(|| sched_getaffinity(None).ok())
}

/// The processor of an end: `None` where both have to share one.
fn of(place: Place, all: &CpuSet) -> Option<usize> {
    let mut able = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu));
    let (first, last) = (able.next()?, able.next_back()?);
    Some(if place == Place::Here { first } else { last })
}

/// Puts this thread into its place, until what it returns is dropped.
#[must_use = "the thread leaves its place when this is dropped"]
pub(super) fn take(place: Place) -> Taken {
    if let Some(cpu) = all().and_then(|all| of(place, &all)) {
        let mut one = CpuSet::new();
        one.set(cpu);
        set(&one);
    }
    Taken(PhantomData)
}

/// The thread is in its place.
#[derive(Debug)]
pub(super) struct Taken(PhantomData<*const ()>);

impl Drop for Taken {
    fn drop(&mut self) {
        leave();
    }
}

/// This thread may run anywhere.
pub(super) fn leave() {
    if let Some(all) = all() {
        set(&all);
    }
}

fn set(processors: &CpuSet) {
    // A measurement anywhere is better than none.
    let _ = sched_setaffinity(None, processors);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processors(list: &[usize]) -> CpuSet {
        let mut set = CpuSet::new();
        list.iter().for_each(|&cpu| set.set(cpu));
        set
    }

    #[test]
    fn ends_are_apart_where_they_can_be() {
        for (list, ends) in [
            (&[0, 1][..], [Some(0), Some(1)]),
            (&[3, 5, 64], [Some(3), Some(64)]),
            (&[2], [None, None]),
            (&[], [None, None]),
        ] {
            let all = processors(list);
            assert_eq!([Place::Here, Place::There].map(|place| of(place, &all)), ends, "{list:?}");
        }
    }

    #[test]
    fn a_thread_takes_its_place_and_leaves_it() {
        let before = sched_getaffinity(None).unwrap();
        std::thread::spawn(move || {
            let taken = take(Place::There);
            let now = sched_getaffinity(None).unwrap();
            assert_eq!(now.count(), 1);
            assert!((0..CpuSet::MAX_CPU).all(|cpu| before.is_set(cpu) || !now.is_set(cpu)));
            drop(taken);
            assert_eq!(sched_getaffinity(None).unwrap(), before);
        })
        .join()
        .unwrap();
    }
}
