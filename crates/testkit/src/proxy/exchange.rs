//! As much of HTTP/1.1 as the proxy needs: one exchange a connection, bodies held whole.

use std::{
    io::{Error, ErrorKind, Result},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Nothing a test sends or a PDS answers in these tests is larger.
const MAX_BYTES: usize = 200_000_000;

type Headers = Vec<(String, String)>;

pub(super) struct Request {
    method: String,
    target: String,
    headers: Headers,
    body: Vec<u8>,
}

pub(super) struct Answer {
    status_line: String,
    headers: Headers,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) async fn read(client: &mut TcpStream) -> Result<Self> {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = find(&bytes, b"\r\n\r\n") {
                break end;
            }
            more(client, &mut bytes).await?;
        };
        let (first, headers) = parse_head(&bytes[..end])?;
        let mut parts = first.split(' ').map(str::to_owned);
        let (Some(method), Some(target)) = (parts.next(), parts.next()) else {
            return Err(nonsense());
        };
        let length = match value(&headers, "content-length") {
            Some(length) => length.parse().map_err(|_| nonsense())?,
            None => 0,
        };
        let mut body = bytes.split_off(end + 4);
        while body.len() < length {
            more(client, &mut body).await?;
        }
        Ok(Self { method, target, headers, body })
    }

    /// The path, without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Sends the request to `server` and waits for the whole answer.
    pub(super) async fn forward(&self, server: &str, timeout: Duration) -> Result<Answer> {
        let port = server.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).ok_or_else(nonsense)?;
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            // The answer is to be read to its end, and as it is.
            if name != "connection" && name != "accept-encoding" {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        head.push_str("connection: close\r\n\r\n");
        let exchange = async {
            let mut upstream = TcpStream::connect(("127.0.0.1", port)).await?;
            upstream.write_all(head.as_bytes()).await?;
            upstream.write_all(&self.body).await?;
            let mut bytes = Vec::new();
            while more(&mut upstream, &mut bytes).await.is_ok() {}
            Answer::parse(bytes)
        };
        tokio::time::timeout(timeout, exchange).await.map_err(|_| Error::from(ErrorKind::TimedOut))?
    }
}

impl Answer {
    pub(super) fn new(status: u16, headers: &[(String, String)], body: &str) -> Self {
        Self { status_line: format!("HTTP/1.1 {status} Fault"), headers: headers.to_vec(), body: body.into() }
    }

    fn parse(mut bytes: Vec<u8>) -> Result<Self> {
        let end = find(&bytes, b"\r\n\r\n").ok_or_else(nonsense)?;
        let (status_line, mut headers) = parse_head(&bytes[..end])?;
        let mut body = bytes.split_off(end + 4);
        if value(&headers, "transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
            body = join_chunks(&body)?;
        }
        headers.retain(|(name, _)| {
            !matches!(name.as_str(), "transfer-encoding" | "content-length" | "connection" | "keep-alive")
        });
        Ok(Self { status_line, headers, body })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut head = format!("{}\r\n", self.status_line);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\nconnection: close\r\n\r\n", self.body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

async fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Result<()> {
    if bytes.len() > MAX_BYTES {
        return Err(nonsense());
    }
    match stream.read_buf(bytes).await? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// The first line, and the headers with lower-case names.
fn parse_head(head: &[u8]) -> Result<(String, Headers)> {
    let head = std::str::from_utf8(head).map_err(|_| nonsense())?;
    let (first, rest) = head.split_once("\r\n").unwrap_or((head, ""));
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    Ok((first.to_owned(), rest.split("\r\n").filter_map(header).collect()))
}

fn value<'a>(headers: &'a Headers, wanted: &str) -> Option<&'a str> {
    headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
}

fn join_chunks(mut bytes: &[u8]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = find(bytes, b"\r\n").ok_or_else(nonsense)?;
        let size = std::str::from_utf8(&bytes[..end]).ok().and_then(|size| size.split(';').next());
        let size = size.and_then(|size| usize::from_str_radix(size.trim(), 16).ok()).ok_or_else(nonsense)?;
        if size == 0 {
            return Ok(body);
        }
        let start = end + 2;
        body.extend_from_slice(bytes.get(start..start + size).ok_or_else(nonsense)?);
        bytes = bytes.get(start + size + 2..).ok_or_else(nonsense)?;
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn nonsense() -> Error {
    ErrorKind::InvalidData.into()
}
