//! A small HTTP server on loopback: it keeps what it is sent and answers what it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Is a request.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

struct Inner {
    sent: Mutex<Vec<Sent>>,
    body: Mutex<String>,
    status: AtomicU16,
    is_over: AtomicBool,
}

/// Listens until it is dropped.
pub(crate) struct Listener {
    inner: Arc<Inner>,
    pub(crate) address: String,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let inner = Arc::new(Inner {
            sent: Mutex::default(),
            body: Mutex::default(),
            status: AtomicU16::new(200),
            is_over: AtomicBool::new(false),
        });
        let shared = inner.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                // Whoever hangs up early sent nothing.
                let _ = shared.answer(stream.unwrap());
            }
        });
        Self { inner, address, thread: Some(thread) }
    }

    /// Says what is answered from now on.
    pub(crate) fn answer(&self, status: u16, body: &str) {
        *self.inner.body.lock().unwrap() = body.to_owned();
        self.inner.status.store(status, Ordering::SeqCst);
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.inner.sent.lock().unwrap().clone()
    }

    /// Waits until it was sent so many requests.
    pub(crate) fn wait_for(&self, count: usize) {
        for _ in 0..3_000 {
            if self.sent().len() >= count {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{} requests came", self.sent().len());
    }
}

impl Inner {
    fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let start = head.len();
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
            let line = head[start..].trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        self.sent.lock().unwrap().push(Sent { head, body });
        let (status, body) =
            (self.status.load(Ordering::SeqCst), self.body.lock().unwrap().clone());
        write!(
            reader.get_mut(),
            "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.inner.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(&self.address);
        let _ = self.thread.take().unwrap().join();
    }
}
