//! One way for both directions, of connections that were made out of band: there each end asks for itself, and the second
//! one asks whether its tasks may go the way of the first one's. So what is said of one direction travels with the bytes
//! of the other, and there is half as much to look at.

use super::line::Line;
use super::meet::{call, caller};
use super::wire::{Held, Joint};
use super::{PATIENCE, on_line};
use crate::blob::{Blob, Reader};
use crate::caller::Caller;
use crate::conn::Conn;
use crate::control::{Control, Mail};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

/// Of two that were connected out of band: take my tasks, too, on the way on which you send me yours.
pub(super) const SHARE: u8 = 8;
pub(super) const SHARED: u8 = 9;
pub(super) const UNSHARED: u8 = 10;

/// The peer sends to us already: asks it to take our tasks on the same way. False: it has to be asked for another one, which
/// also tells why not.
pub(super) fn share(control: &Arc<Control>, conn: &Arc<Conn>, blob: &Blob, caller: &Caller) -> bool {
    let more = conn.more();
    let Some(pipe) = more.inward.upgrade().filter(|_| more.from == Some(blob.name)) else { return false };
    drop(more);
    let packet = call(SHARE, blob.name.context, caller);
    let (tell, told) = sync_channel(1);
    if on_line(pipe.clone(), move |line| line.ask_to_share(&packet, tell)).is_err() {
        return false;
    }
    let Ok(rights) = told.recv_timeout(PATIENCE) else { return false };
    pipe.lock().ask.rights = rights;
    conn.fabric.get_or_init(|| pipe.provider.clone());
    control.send(Mail::Net(conn.here, Joint { pipe: Held::new(pipe), out: true, inward: None }));
    true
}

impl Line {
    /// A packet about that.
    pub(super) fn sharing(&mut self, kind: u8, body: &[u8]) {
        if kind != SHARE {
            let tell = self.sharing.take();
            if let (Some(tell), Some(rights)) = (tell, Reader(body).u32().filter(|_| kind == SHARED)) {
                let _ = tell.send(rights);
            }
            return;
        }
        let mut answer = vec![UNSHARED];
        match self.take_in(body) {
            Ok(rights) => {
                answer[0] = SHARED;
                answer.extend(rights.to_le_bytes());
            }
            Err(why) => log::debug!(target: crate::LOG, "network: a way is not shared: {why}"),
        }
        self.say(&answer);
    }

    /// Asks the peer to take tasks on this way, too; it gives its rights.
    fn ask_to_share(&mut self, packet: &[u8], tell: SyncSender<u32>) {
        self.sharing = Some(tell);
        self.say(packet);
    }

    /// The peer asks that, of the connection whose tasks go this way.
    fn take_in(&mut self, body: &[u8]) -> Result<u32, String> {
        let (context, caller) = caller(&mut Reader(body)).ok_or("it makes no sense")?;
        let (Some((control, conn)), Some(pipe)) = (&self.own, &self.pipe) else {
            return Err("its tasks do not go this way".into());
        };
        let control = control.upgrade().ok_or("the context is gone")?;
        if control.number != context || *conn != caller.conn {
            return Err("it is another connection's".into());
        }
        let (sender, conn, ..) = control.admit(&caller)?;
        let rights = control.settings().rights;
        let joint = Joint { pipe: Held::new(pipe.clone()), out: false, inward: Some(sender) };
        control.send(Mail::Net(conn.here, joint));
        Ok(rights)
    }
}
