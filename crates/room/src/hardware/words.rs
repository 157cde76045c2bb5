//! What starts and turns of an engine with peers come to.

/// What a start came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It runs.
    Running,
    /// It runs when the hardware asks for it ([`Port::run`](super::Port::run)), or becomes idle again
    /// ([`Port::give_up`](super::Port::give_up)).
    Later,
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing moved.
    Idle,
    /// Something moved; turn again soon.
    Busy,
}
