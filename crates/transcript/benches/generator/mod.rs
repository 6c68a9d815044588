//! A transcript like Claude Code's, with the mix of bytes that real ones have: text 1.4 %, reasoning
//! 1.4 %, signatures 3 %, arguments 3 %, results 14 %, the row's own copy of the result 43 %, and
//! the rest envelopes, progress and file history.

use std::io::{self, Write};

/// Writes rows until `bytes` are reached; gives how many were written.
pub fn write_transcript(out: &mut impl Write, bytes: usize) -> io::Result<usize> {
    let mut transcript = Transcript { out, written: 0, row: 0, random: 0x9E37_79B9_7F4A_7C15 };
    let mut exchange = 0;
    while transcript.written < bytes {
        transcript.exchange(exchange)?;
        exchange += 1;
    }
    Ok(transcript.written)
}

struct Transcript<'w, W> {
    out: &'w mut W,
    written: usize,
    row: u64,
    random: u64,
}

const WORDS: [&str; 16] = [
    "kiln",
    "glaze",
    "the",
    "of",
    "function",
    "test",
    "failed",
    "with",
    "error",
    "shelf",
    "fn main() {",
    "return",
    "  let x = 1;",
    "src/lib.rs",
    "→",
    "\\\"quoted\\\"",
];

impl<W: Write> Transcript<'_, W> {
    fn next(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % below
    }

    /// Words of a JSON string, as a JSON string holds them: a newline every dozen.
    fn words(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 32);
        let mut count = 0;
        while text.len() < bytes {
            let word = WORDS[usize::try_from(self.next(16)).unwrap_or(0)];
            text.push_str(word);
            count += 1;
            text.push_str(if count % 12 == 0 { "\\n" } else { " " });
        }
        text
    }

    /// Base64-like text.
    fn noise(&mut self, bytes: usize) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        (0..bytes).map(|_| char::from(DIGITS[usize::try_from(self.next(64)).unwrap_or(0)])).collect()
    }

    fn row(&mut self, kind: &str, rest: &str) -> io::Result<()> {
        let parent = if self.row == 0 { "null".to_owned() } else { format!("\"{}\"", uuid(self.row - 1)) };
        let second = self.row / 5;
        let line = format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/mira/code/kiln\",\"sessionId\":\"5f0c7a2e-9d41-4c7b-8a55-0d6f2b1e9c01\",\"version\":\"2.1.42\",\"gitBranch\":\"main\",\"slug\":\"patient-glazing-heron\",\"type\":\"{kind}\",{rest},\"uuid\":\"{}\",\"timestamp\":\"2026-03-{:02}T{:02}:{:02}:{:02}.{:03}Z\"}}\n",
            uuid(self.row),
            1 + second / 86_400 % 28,
            second / 3600 % 24,
            second / 60 % 60,
            second % 60,
            self.row % 5 * 200,
        );
        self.row += 1;
        self.written += line.len();
        self.out.write_all(line.as_bytes())
    }

    fn agent(&mut self, message: u64, block: &str) -> io::Result<()> {
        let rest = format!(
            "\"message\":{{\"model\":\"claude-opus-4-5-20251101\",\"id\":\"msg_{message:024}\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{block}],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{{\"input_tokens\":9,\"cache_creation_input_tokens\":1024,\"cache_read_input_tokens\":51200,\"cache_creation\":{{\"ephemeral_5m_input_tokens\":1024,\"ephemeral_1h_input_tokens\":0}},\"output_tokens\":120,\"service_tier\":\"standard\"}}}},\"requestId\":\"req_{message:024}\""
        );
        self.row("assistant", &rest)
    }

    /// A prompt, ten calls with their results, and an answer.
    fn exchange(&mut self, number: u64) -> io::Result<()> {
        let prompt = self.words(200);
        self.row("user", &format!("\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}}"))?;
        let history = format!(
            "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{}\",\"snapshot\":{{\"trackedFileBackups\":{{}}}},\"isSnapshotUpdate\":false}}\n",
            uuid(number)
        );
        self.written += history.len();
        self.out.write_all(history.as_bytes())?;
        for call in 0..10 {
            let message = number * 100 + call;
            let (thought, signature, text) = (self.words(120), self.noise(260), self.words(90));
            self.agent(
                message,
                &format!("{{\"type\":\"thinking\",\"thinking\":\"{thought}\",\"signature\":\"{signature}\"}}"),
            )?;
            self.agent(message, &format!("{{\"type\":\"text\",\"text\":\"{text}\"}}"))?;
            let arguments = self.words(180);
            self.agent(message, &format!("{{\"type\":\"tool_use\",\"id\":\"toolu_{message:020}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{arguments}\",\"description\":\"Fire the kiln\"}}}}"))?;
            for _ in 0..2 {
                self.row("progress", &format!("\"data\":{{\"type\":\"bash_progress\",\"output\":\"{arguments}\",\"elapsedTimeSeconds\":3,\"totalLines\":9}},\"toolUseID\":\"bash-progress-{message}\",\"parentToolUseID\":\"toolu_{message:020}\""))?;
            }
            let length = if call == 9 { 8000 } else { 500 };
            let result = self.words(length);
            let whole = self.words(length * 3);
            self.row("user", &format!("\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"toolu_{message:020}\",\"type\":\"tool_result\",\"content\":\"{result}\",\"is_error\":false}}]}},\"toolUseResult\":{{\"stdout\":\"{whole}\",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false}},\"sourceToolAssistantUUID\":\"{}\"", uuid(self.row - 1)))?;
        }
        let answer = self.words(700);
        self.agent(number * 100 + 99, &format!("{{\"type\":\"text\",\"text\":\"{answer}\"}}"))
    }
}

fn uuid(number: u64) -> String {
    format!("{:08x}-1f2e-4d3c-8b4a-{:012x}", number >> 16, number)
}
