//! Numbers of send queues: each port's are its own.

use softdpu_card::Function;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Numbers that no program chose begin here.
const OWN: u16 = 0x8000;

/// Which numbers of which functions are taken.
static TAKEN: Mutex<Vec<(usize, u16)>> = Mutex::new(Vec::new());

fn taken() -> MutexGuard<'static, Vec<(usize, u16)>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number, free again when dropped.
#[derive(Debug)]
pub(crate) struct Number {
    function: Arc<Function>,
    number: u16,
}

impl Number {
    /// A number that no program chose.
    ///
    /// # Errors
    /// Full: all are taken.
    pub(crate) fn any(function: &Arc<Function>) -> Result<Number> {
        let mut taken = taken();
        let key = Arc::as_ptr(function).addr();
        let free = (OWN..=u16::MAX).find(|n| !taken.contains(&(key, *n)));
        let number = free.ok_or(Error::new(Code::Full, "all numbers of queues are taken"))?;
        taken.push((key, number));
        Ok(Number { function: function.clone(), number })
    }

    /// Changes it to one of the program's choice.
    ///
    /// # Errors
    /// AlreadyExist: another queue has it; nothing changes then.
    pub(crate) fn change(&mut self, number: u16) -> Result<()> {
        let mut taken = taken();
        let key = Arc::as_ptr(&self.function).addr();
        if number == self.number {
            return Ok(());
        }
        if taken.contains(&(key, number)) {
            log::error!(target: crate::LOG, "send queue number {number} of {} is taken by another queue", self.function);
            return Err(Error::new(Code::AlreadyExist, "another queue has this number"));
        }
        taken.iter_mut().filter(|known| **known == (key, self.number)).for_each(|known| known.1 = number);
        self.number = number;
        Ok(())
    }

    pub(crate) fn get(&self) -> u16 {
        self.number
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        let mine = (Arc::as_ptr(&self.function).addr(), self.number);
        taken().retain(|known| *known != mine);
    }
}
