//! Where a collector is: `host:port`, `http://host:port/path`, `unix:/path`, and connections there with time limits.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// How long connecting, and each wait for the peer, may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// The address of a collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// Host and port.
    Tcp(String),
    /// A local socket.
    Unix(PathBuf),
}

impl Endpoint {
    /// Reads `host:port` or `unix:/path`.
    pub(crate) fn parse(text: &str) -> Option<Endpoint> {
        if let Some(path) = text.strip_prefix("unix:") {
            return path.starts_with('/').then(|| Endpoint::Unix(path.into()));
        }
        let (host, port) = text.rsplit_once(':')?;
        (!host.is_empty() && port.parse::<u16>().is_ok()).then(|| Endpoint::Tcp(text.to_owned()))
    }

    /// A new connection.
    pub(crate) fn connect(&self) -> io::Result<Box<dyn Stream>> {
        match self {
            Endpoint::Tcp(address) => {
                let mut failed = io::Error::from(io::ErrorKind::NotFound);
                for address in address.to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, PATIENCE) {
                        Ok(stream) => {
                            stream.set_read_timeout(Some(PATIENCE))?;
                            stream.set_write_timeout(Some(PATIENCE))?;
                            stream.set_nodelay(true)?;
                            return Ok(Box::new(stream));
                        }
                        Err(e) => failed = e,
                    }
                }
                Err(failed)
            }
            Endpoint::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Ok(Box::new(stream))
            }
        }
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Endpoint::Tcp(address) => f.write_str(address),
            Endpoint::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A connection.
pub(crate) trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// A place to post documents to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) authority: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) path: String,
}

impl Url {
    /// Reads `http://host[:port][/path]`.
    pub(crate) fn parse(text: &str) -> Option<Url> {
        let rest = text.strip_prefix("http://")?;
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| (&rest[..at], &rest[at..]));
        let plain = |c: char| c.is_ascii_graphic();
        if authority.contains('@') || !rest.chars().all(plain) {
            return None;
        }
        // A bare IPv6 address has colons inside its brackets only.
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
        let address = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        let endpoint = Endpoint::parse(&address)?;
        Some(Url { authority: authority.to_owned(), endpoint, path: path.to_owned() })
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_or_refused() {
        assert_eq!(Endpoint::parse("a:1"), Some(Endpoint::Tcp("a:1".into())));
        assert_eq!(Endpoint::parse("[::1]:24224"), Some(Endpoint::Tcp("[::1]:24224".into())));
        assert_eq!(Endpoint::parse("unix:/run/x"), Some(Endpoint::Unix("/run/x".into())));
        for bad in ["", "a", "a:", ":1", "a:99999", "a:b", "unix:", "unix:x"] {
            assert_eq!(Endpoint::parse(bad), None, "{bad}");
        }
        let url = Url::parse("http://h/v1/logs").unwrap();
        assert_eq!((url.endpoint.to_string().as_str(), url.path.as_str()), ("h:80", "/v1/logs"));
        assert_eq!(Url::parse("http://[::1]").unwrap().endpoint.to_string(), "[::1]:80");
        assert_eq!(Url::parse("http://h:4318").unwrap().path, "/");
        for bad in ["https://h", "h:1", "http://", "http:///x", "http://u@h/", "http://h/a b", "http://h:x/"]
        {
            assert_eq!(Url::parse(bad), None, "{bad}");
        }
    }
}
