//! Frames out of a capture file.

use crate::drain::Feed;
use crate::headers::HEAD;
use crate::pcap::{Reader, Record};
use softdpu_link::Receiver;
use std::fs::File;
use std::io::BufReader;

/// A file that is being read.
#[derive(Debug)]
pub(crate) struct CaptureSource {
    reader: Reader<BufReader<File>>,
    name: String,
    frame: Vec<u8>,
    front: Option<Record>,
    is_over: bool,
}

impl CaptureSource {
    pub(crate) fn new(reader: Reader<BufReader<File>>, name: String) -> CaptureSource {
        CaptureSource { reader, name, frame: Vec::new(), front: None, is_over: false }
    }

    pub(crate) fn is_ready(&mut self) -> bool {
        self.front().is_some()
    }
}

impl Feed for CaptureSource {
    fn front(&mut self) -> Option<usize> {
        if self.front.is_none() && !self.is_over {
            match self.reader.next(&mut self.frame) {
                Ok(Some(record)) => self.front = Some(record),
                Ok(None) => self.is_over = true,
                Err(cause) => {
                    log::error!(target: crate::LOG, "capture file {}: {cause}", self.name);
                    self.is_over = true;
                }
            }
        }
        self.front.map(|front| front.len)
    }

    fn look<'a>(&'a self, _head: Option<&'a mut [u8; HEAD]>) -> (&'a [u8], Option<&'a Receiver>) {
        (&self.frame, None)
    }

    fn stamp(&self) -> Option<u64> {
        self.front.map(|front| front.stamp)
    }

    fn pop(&mut self) {
        self.front = None;
    }
}
