//! Posting a document: one request per connection, an answer of at most 8 KiB of head.

use crate::courier::Collector;
use crate::endpoint::Url;
use std::io::{self, Read, Write};

/// A server that takes JSON documents.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) url: Url,
}

/// Longest head of an answer that is read.
const MAX_HEAD: usize = 8192;

impl Collector for Post {
    fn deliver(&self, parcel: &[u8]) -> io::Result<()> {
        let mut stream = self.url.endpoint.connect()?;
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: softdpu/{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.url.path,
            self.url.authority,
            env!("CARGO_PKG_VERSION"),
            parcel.len()
        );
        stream.write_all(&[head.as_bytes(), parcel].concat())?;
        verdict(read_status(&mut stream)?)
    }

    fn place(&self) -> String {
        self.url.to_string()
    }
}

/// What a status means for the parcel: taken, to be tried again, or refused for good.
fn verdict(status: u16) -> io::Result<()> {
    let kind = match status {
        200..300 => return Ok(()),
        429 | 502 | 503 | 504 => io::ErrorKind::WouldBlock,
        _ => io::ErrorKind::InvalidData,
    };
    Err(io::Error::new(kind, format!("the server answered with status {status}")))
}

fn read_status(stream: &mut impl Read) -> io::Result<u16> {
    let mut head = Vec::new();
    loop {
        let mut piece = [0; 1024];
        let n = stream.read(&mut piece)?;
        head.extend_from_slice(&piece[..n]);
        if let Some(status) = status_of(&head)? {
            return Ok(status);
        }
        if n == 0 || head.len() > MAX_HEAD {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "no whole answer"));
        }
    }
}

/// The final status, once the head is complete; interim answers are skipped.
fn status_of(head: &[u8]) -> io::Result<Option<u16>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head) {
        Ok(httparse::Status::Complete(end)) => match response.code {
            Some(100..200) => status_of(&head[end..]),
            code => Ok(code),
        },
        Ok(httparse::Status::Partial) => Ok(None),
        Err(e) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("no HTTP answer: {e}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_piece_by_piece() {
        struct Drip<'a>(&'a [u8]);
        impl Read for Drip<'_> {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                self.0.read(&mut to[..1])
            }
        }
        let answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nA: b\r\n\r\n";
        assert_eq!(read_status(&mut Drip(answer)).unwrap(), 204);
        for bad in [&b""[..], b"HTTP/1.1 200 OK\r\n", b"SSH-2.0-x\r\n\r\n", &[0xff; 20_000]] {
            assert!(read_status(&mut Drip(bad)).is_err());
        }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        assert!(verdict(200).is_ok() && verdict(202).is_ok());
        assert_eq!(verdict(503).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        for refused in [301, 400, 404, 413, 500] {
            assert_eq!(verdict(refused).unwrap_err().kind(), io::ErrorKind::InvalidData, "{refused}");
        }
    }
}
