//! The server that Prometheus asks: one thread per address, shared by all schemas of the process that name it.
//!
//! It answers `GET /metrics`, one request per connection, one connection at a time, and gives nobody more than five
//! seconds: whoever does not send a request or does not read the answer is cut off.

use crate::metrics::Board;
use crate::{LOG, prometheus, refuse};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use softdpu_status::{Code, Result};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// The variable that says where to listen.
pub(crate) const VARIABLE: &str = "PROMETHEUS_ENDPOINT";
/// Longest request that is read.
const MAX_REQUEST: usize = 8192;
/// Time for one connection.
const PATIENCE: Duration = Duration::from_secs(5);

static SERVERS: Mutex<Vec<(String, Weak<Server>)>> = Mutex::new(Vec::new());

/// A server, as long as somebody holds it.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    /// Also the thread's.
    listener: Arc<TcpListener>,
    shared: Arc<Shared>,
    home: rustix::process::Pid,
}

/// More text for the page, of another part of the library.
type Page = fn() -> String;

struct Shared {
    pages: Mutex<Vec<Page>>,
    boards: Mutex<Vec<Weak<Board>>>,
    /// Rung when the server ends.
    bell: OwnedFd,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

impl Server {
    /// The server of this process at `endpoint`, which is `host:port`, or that as the beginning of an URL.
    ///
    /// # Errors
    /// Initialization: the address cannot be listened at.
    pub(crate) fn at(endpoint: &str) -> Result<Arc<Server>> {
        Server::asked_by(VARIABLE, endpoint)
    }

    /// As [`Server::at`], for what another variable says.
    fn asked_by(variable: &str, endpoint: &str) -> Result<Arc<Server>> {
        let failed = |e: io::Error| {
            let line = format_args!("{variable}={endpoint}: cannot be listened at: {e} (wanted: host:port)");
            refuse(Code::Initialization, "no server for metrics", line)
        };
        let place = host_and_port(endpoint);
        let found = {
            let mut servers = SERVERS.lock().unwrap_or_else(|e| e.into_inner());
            servers.retain(|(_, server)| server.strong_count() > 0);
            let known = servers.iter().find(|(name, _)| name == place).and_then(|(_, s)| s.upgrade());
            match known {
                Some(server) => Ok(server),
                None => Server::start(place).inspect(|server| {
                    servers.push((place.to_owned(), Arc::downgrade(server)));
                }),
            }
        };
        found.map_err(failed)
    }

    fn start(place: &str) -> io::Result<Arc<Server>> {
        let addresses: Vec<SocketAddr> = place.to_socket_addrs()?.collect();
        let listener = Arc::new(TcpListener::bind(&addresses[..])?);
        listener.set_nonblocking(true)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC)?;
        let shared = Arc::new(Shared { pages: Mutex::default(), boards: Mutex::default(), bell });
        let address = listener.local_addr()?;
        let (its, door) = (shared.clone(), listener.clone());
        softdpu_link::with_signals_blocked(|| {
            std::thread::Builder::new().name("softdpu-scrape".into()).spawn(move || serve(&door, &its))
        })?;
        Ok(Arc::new(Server { address, listener, shared, home: rustix::process::getpid() }))
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Shows a board's metrics as long as it lives.
    pub(crate) fn show(&self, board: &Arc<Board>) {
        let mut boards = self.shared.boards.lock().unwrap_or_else(|e| e.into_inner());
        boards.retain(|board| board.strong_count() > 0);
        boards.push(Arc::downgrade(board));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A forked child shares the bell with its parent, whose server goes on.
        if self.home == rustix::process::getpid() {
            // The address is free at once, whatever the thread is at: the next server may want it.
            let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
            let _ = rustix::io::write(&self.shared.bell, &1u64.to_ne_bytes());
        }
    }
}

/// What `http://host:port/metrics`, or a part of that, says of the address.
fn host_and_port(endpoint: &str) -> &str {
    let rest = endpoint.strip_prefix("http://").unwrap_or(endpoint);
    rest.split('/').next().unwrap_or(rest)
}

/// Serves more text, in Prometheus's format, at `endpoint` (`host:port`), which `variable` names, until the process ends.
///
/// # Errors
/// Initialization: the address cannot be listened at; the log says why.
pub fn serve_page(variable: &str, endpoint: &str, page: Page) -> Result<()> {
    static KEPT: Mutex<Vec<Arc<Server>>> = Mutex::new(Vec::new());
    let server = Server::asked_by(variable, endpoint)?;
    server.shared.pages.lock().unwrap_or_else(|e| e.into_inner()).push(page);
    KEPT.lock().unwrap_or_else(|e| e.into_inner()).push(server);
    Ok(())
}

fn serve(listener: &TcpListener, shared: &Shared) {
    loop {
        let mut both = [PollFd::new(&shared.bell, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
        match poll(&mut both, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => {
                log::error!(target: LOG, "the server for metrics ends: {e}");
                return;
            }
        }
        if !both[0].revents().is_empty() {
            return;
        }
        match listener.accept() {
            Ok((stream, from)) => {
                if let Err(e) = answer(stream, shared) {
                    log::debug!(target: LOG, "metrics for {from}: {e}");
                }
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            // Out of descriptors, mostly: better late than in a circle.
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
    stream.set_nonblocking(false)?;
    let request = read_request(&mut stream, end)?;
    let (status, body) = match judge(&request) {
        Ok(()) => {
            let boards: Vec<Arc<Board>> = {
                let boards = shared.boards.lock().unwrap_or_else(|e| e.into_inner());
                boards.iter().filter_map(Weak::upgrade).collect()
            };
            let pages = shared.pages.lock().unwrap_or_else(|e| e.into_inner()).clone();
            let more: String = pages.iter().map(|page| page()).collect();
            ("200 OK", prometheus::page(&boards) + &more)
        }
        Err(status) => (status, format!("{status}\n")),
    };
    let kind = if status.starts_with("200") { prometheus::CONTENT_TYPE } else { "text/plain" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let body = if request.starts_with(b"HEAD ") { "" } else { &body };
    write_until(&mut stream, &[head.as_bytes(), body.as_bytes()].concat(), end)?;
    // So that unread bytes of the request do not tear down the answer on its way.
    stream.shutdown(std::net::Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let _ = stream.read(&mut [0; 1024]);
    Ok(())
}

fn rest(end: Instant) -> io::Result<Option<Duration>> {
    let rest = end.saturating_duration_since(Instant::now());
    if rest.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(rest)) }
}

fn read_request(stream: &mut TcpStream, end: Instant) -> io::Result<Vec<u8>> {
    let mut request = Vec::new();
    while request.len() < MAX_REQUEST && !request.windows(4).any(|w| w == b"\r\n\r\n") {
        stream.set_read_timeout(rest(end)?)?;
        let mut piece = [0; 1024];
        let n = stream.read(&mut piece)?;
        if n == 0 {
            break;
        }
        request.extend_from_slice(&piece[..n]);
    }
    Ok(request)
}

fn write_until(stream: &mut TcpStream, mut bytes: &[u8], end: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(rest(end)?)?;
        let n = stream.write(bytes)?;
        bytes = &bytes[n..];
    }
    Ok(())
}

/// Whether a request gets the page; else the status it gets.
pub(crate) fn judge(request: &[u8]) -> std::result::Result<(), &'static str> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(request) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if request.len() >= MAX_REQUEST => {
            return Err("431 Request Header Fields Too Large");
        }
        _ => return Err("400 Bad Request"),
    }
    let path = parsed.path.unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    match (parsed.method, path) {
        (Some("GET" | "HEAD"), "/metrics") => Ok(()),
        (_, "/metrics") => Err("405 Method Not Allowed"),
        _ => Err("404 Not Found"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_may_be_written_as_url() {
        for endpoint in ["h:1", "http://h:1", "http://h:1/", "http://h:1/metrics"] {
            assert_eq!(host_and_port(endpoint), "h:1");
        }
        assert_eq!(host_and_port("[::1]:9"), "[::1]:9");
    }

    #[test]
    fn an_address_can_be_listened_at_again_at_once() {
        let server = Server::at("127.0.0.1:0").unwrap();
        let endpoint = server.address().to_string();
        drop(server);
        for round in 0..10 {
            let server = Server::at(&endpoint).unwrap();
            // Somebody who keeps the thread busy.
            let held = (round % 2 == 0).then(|| TcpStream::connect(server.address()).unwrap());
            drop(server);
            drop(held);
        }
    }

    #[test]
    fn requests_are_judged_whatever_they_are() {
        assert_eq!(judge(b"GET /metrics HTTP/1.1\r\n\r\n"), Ok(()));
        assert_eq!(judge(b"HEAD /metrics?x=1 HTTP/1.0\r\nA: b\r\n\r\n"), Ok(()));
        assert_eq!(judge(b"GET / HTTP/1.1\r\n\r\n"), Err("404 Not Found"));
        assert_eq!(judge(b"PUT /metrics HTTP/1.1\r\n\r\n"), Err("405 Method Not Allowed"));
        let good = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
        let mut seed = 1u32;
        for _ in 0..20_000 {
            let mut request = good.to_vec();
            for _ in 0..3 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = seed as usize / 7 % request.len();
                request[at] = (seed >> 24) as u8;
            }
            request.truncate(request.len() - seed as usize % 3);
            // Any verdict, but no panic.
            let _ = judge(&request);
        }
    }
}
