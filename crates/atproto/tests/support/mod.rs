//! A web site and a name server on loopback, for tests of identity.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
};

#[derive(Clone)]
pub struct Page {
    pub status: u16,
    pub headers: String,
    pub body: String,
}

/// Answers paths with fixed pages, whatever the host; counts what it is asked.
#[derive(Clone)]
pub struct Site {
    pub address: SocketAddr,
    pages: Arc<Mutex<HashMap<String, Page>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let site = Self { address: listener.local_addr().unwrap(), pages: Arc::default(), asked: Arc::default() };
        let serving = site.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let site = serving.clone();
                tokio::spawn(async move { site.serve(stream).await });
            }
        });
        site
    }

    pub fn url(&self) -> url::Url {
        format!("http://localhost:{}", self.address.port()).parse().unwrap()
    }

    pub fn page(&self, path: &str, status: u16, body: impl ToString) {
        self.page_with(path, status, "", body);
    }

    pub fn page_with(&self, path: &str, status: u16, headers: &str, body: impl ToString) {
        let page = Page { status, headers: headers.to_owned(), body: body.to_string() };
        self.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    async fn serve(&self, mut stream: TcpStream) {
        let mut bytes = Vec::new();
        while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let head = String::from_utf8_lossy(&bytes);
        let target = head.split(' ').nth(1).unwrap().to_owned();
        self.asked.lock().unwrap().push(target.clone());
        let path = target.split('?').next().unwrap();
        let page = self.pages.lock().unwrap().get(path).cloned();
        let Page { status, headers, body } =
            page.unwrap_or(Page { status: 404, headers: String::new(), body: "nothing here".into() });
        let answer = format!(
            "HTTP/1.1 {status} Test\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
    }
}

/// Answers TXT questions; other names do not exist, and `broken.` ones get SERVFAIL.
#[derive(Clone)]
pub struct Dns {
    pub address: SocketAddr,
    records: Arc<Mutex<HashMap<String, Vec<Vec<String>>>>>,
}

impl Dns {
    pub async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let dns = Self { address: socket.local_addr().unwrap(), records: Arc::default() };
        let serving = dns.clone();
        tokio::spawn(async move {
            let mut question = [0; 2048];
            while let Ok((length, from)) = socket.recv_from(&mut question).await {
                let _ = socket.send_to(&serving.answer(&question[..length]), from).await;
            }
        });
        dns
    }

    /// Adds TXT records to a name; each record is one or more strings.
    pub fn txt(&self, name: &str, records: &[&[&str]]) {
        let records = records.iter().map(|record| record.iter().map(|&text| text.to_owned()).collect()).collect();
        self.records.lock().unwrap().insert(name.to_owned(), records);
    }

    fn answer(&self, question: &[u8]) -> Vec<u8> {
        // Header, then the name as length-prefixed labels, then type and class. RFC 1035, section 4.1.
        let mut labels = Vec::new();
        let mut at = 12;
        while question[at] != 0 {
            let length = usize::from(question[at]);
            labels.push(String::from_utf8_lossy(&question[at + 1..at + 1 + length]).to_lowercase());
            at += 1 + length;
        }
        let end = at + 5;
        let is_txt = question[at + 1..at + 3] == [0, 16];
        let name = labels.join(".");
        let records = self.records.lock().unwrap().get(&name).cloned().unwrap_or_default();
        let records = if is_txt { records } else { Vec::new() };
        let code: u8 = match &records[..] {
            _ if name.contains("broken") => 2,
            [] => 3,
            _ => 0,
        };
        let mut answer = question[..2].to_vec();
        answer.extend([0x81, 0x80 | code, 0, 1, 0, u8::try_from(records.len()).unwrap(), 0, 0, 0, 0]);
        answer.extend(&question[12..end]);
        for record in records {
            let data: Vec<u8> = record
                .iter()
                .flat_map(|text| [u8::try_from(text.len()).unwrap()].into_iter().chain(text.bytes()))
                .collect();
            // The question's name, TXT, IN, one second.
            answer.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 1]);
            answer.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
            answer.extend(data);
        }
        answer
    }
}
