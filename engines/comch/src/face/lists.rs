//! Receives by the list: posted and taken with one look at the consumer.

use super::consumer::{Arrived, Consumer, Receive, over, told};
use softdpu_memory::Buf;
use softdpu_room::task::Rejected;

impl Consumer {
    /// Posts buffers in this order, with one look at the consumer for all of them.
    ///
    /// ```
    /// # use softdpu::comch::{Client, Payload, Server};
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
    /// # let name = &format!("lists-{}", std::process::id());
    /// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
    /// # let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
    /// # let peer = pe.run(server.accept()).unwrap();
    /// let memory = Memory::heap(4096).access(Access::PCI_READ_WRITE).register(&[&host])?;
    /// let consumer = client.consumer().memory(&memory).receives(2).start(&mut pe)?.wait(&mut pe)?;
    /// let bufs = (0..3).map(|n| memory.buf(n * 64..(n + 1) * 64)).collect::<std::result::Result<_, _>>()?;
    /// let refused = consumer.post_all(bufs).unwrap_err();
    /// assert_eq!((refused.error.code(), refused.back.len()), (Code::Full, 1));
    /// # let producer = peer.producer().start(&mut pe)?.wait(&mut pe)?;
    /// # let to = pe.run(peer.new_consumer()).unwrap();
    /// # for n in 0..2u8 {
    /// #     pe.run(producer.send(to, Payload::imm(&[n])?))?;
    /// # }
    ///
    /// // The peer has sent twice.
    /// # while consumer.try_next().is_none() { pe.progress(); }
    /// let mut arrived = Vec::new();
    /// while consumer.take(&mut arrived, 16) == 0 {
    ///     pe.progress();
    /// }
    /// assert!(arrived.iter().all(|delivery| delivery.is_ok()));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Consumer::post`], with the buffers from the first one on that was refused; those before it are posted.
    pub fn post_all(&self, mut bufs: Vec<Buf>) -> Result<(), Rejected<Vec<Buf>>> {
        let mine = bufs.iter().take_while(|buf| self.is_mine(buf)).count();
        let others = bufs.split_off(mine);
        let mut tasks = bufs.into_iter().map(|buf| (Receive::new(Some(buf)), ()));
        let posted = self.desk.submit_all(&mut tasks);
        self.home.wake();
        let (error, first) = match (posted, others.first()) {
            (Err(Rejected { error, back }), _) => (over(error), back.buf),
            (Ok(()), Some(foreign)) => (self.foreign(foreign), None),
            (Ok(()), None) => return Ok(()),
        };
        let back = first.into_iter().chain(tasks.filter_map(|(task, ())| task.buf)).chain(others).collect();
        Err(Rejected { error, back })
    }

    /// Puts the deliveries that are there behind those in `into`, the oldest first, `most` at a time. How many there were.
    pub fn take(&self, into: &mut Vec<Arrived>, most: usize) -> usize {
        self.desk.with(|intake, _| {
            let count = most.min(intake.arrived.len());
            into.extend(intake.arrived.drain(..count).map(told));
            count
        })
    }
}
