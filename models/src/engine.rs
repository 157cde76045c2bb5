//! How a task wants to be carried out: the words of the room's `engine.rs`.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Shape {
    Small,
    Parts,
    Steps,
    Whole,
}

pub(crate) const MOST_TOGETHER: usize = 2;
