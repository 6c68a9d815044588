//! A web site on loopback, for tests of identity.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
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
