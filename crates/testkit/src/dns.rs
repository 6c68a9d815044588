//! A name server on loopback.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::net::UdpSocket;

/// Answers TXT questions; other names do not exist, and those with `broken` in them get SERVFAIL.
#[derive(Debug, Clone)]
pub struct Dns {
    /// Where it listens.
    pub address: SocketAddr,
    records: Arc<Mutex<HashMap<String, Vec<Vec<String>>>>>,
}

impl Dns {
    /// Starts one; it ends with the runtime it is started on.
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

    /// Gives a name TXT records, in place of those it had; each record is one or more strings.
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
