//! A lean client: one kept connection, HTTP/1.1, answers read into one buffer.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

pub struct Client {
    stream: BufReader<TcpStream>,
    line: String,
    pub body: Vec<u8>,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream: BufReader::with_capacity(64 << 10, stream), line: String::new(), body: Vec::new() }
    }

    /// The status; the body stands in `body`, as it came.
    pub fn get(&mut self, path: &str, encoding: &str) -> u16 {
        let request = format!("GET {path} HTTP/1.1\r\nHost: record.example\r\nAccept-Encoding: {encoding}\r\n\r\n");
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let status = self.line().split(' ').nth(1).unwrap().parse().unwrap();
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap();
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                is_chunked = true;
            }
        }
        self.body.clear();
        if !is_chunked {
            self.read(length);
            return status;
        }
        loop {
            let size = usize::from_str_radix(self.line(), 16).unwrap();
            self.read(size);
            assert!(self.line().is_empty(), "a chunk ends with its line");
            if size == 0 {
                return status;
            }
        }
    }

    /// The body of an answer as text, asked for as it is.
    pub fn text(&mut self, path: &str) -> (u16, String) {
        let status = self.get(path, "identity");
        (status, String::from_utf8_lossy(&self.body).into_owned())
    }

    fn read(&mut self, size: usize) {
        let from = self.body.len();
        self.body.resize(from + size, 0);
        self.stream.read_exact(&mut self.body[from..]).unwrap();
    }

    fn line(&mut self) -> &str {
        self.line.clear();
        assert_ne!(self.stream.read_line(&mut self.line).unwrap(), 0, "the server closed the connection");
        self.line.trim_end()
    }
}
