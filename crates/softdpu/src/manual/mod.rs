//! The manual, in chapters. Every example in it is run by the tests.
//!
//! | chapter | question |
//! |---|---|
//! | [`model`] | What is a card, a device, a context, a task? Who does the work? |
//! | [`memory`] | Where do bytes live, who may touch them when? |
//! | [`progress`] | Polling, sleeping, event loops, futures: which one? |
//! | [`errors`] | What went wrong, and what can be done about it? |
//! | [`threads`] | What may be where? |
//! | [`cancellation`] | What happens to tasks nobody waits for? |
//! | [`comch`] | How do host and card talk, and send each other buffers? |
//! | [`rdma`] | How do peers reach each other's memory, and send messages? |
//! | [`promises`] | What does the compiler refuse? |

#[doc = include_str!("model.md")]
pub mod model {}
#[doc = include_str!("memory.md")]
pub mod memory {}
#[doc = include_str!("progress.md")]
pub mod progress {}
#[doc = include_str!("errors.md")]
pub mod errors {}
#[doc = include_str!("threads.md")]
pub mod threads {}
#[doc = include_str!("cancellation.md")]
pub mod cancellation {}
#[doc = include_str!("comch.md")]
pub mod comch {}
#[doc = include_str!("rdma.md")]
pub mod rdma {}
#[doc = include_str!("promises.md")]
pub mod promises {}
