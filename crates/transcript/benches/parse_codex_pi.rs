//! Throughput of the importers of Codex and pi, on sessions made here.
//!
//! `cargo bench -p onrecord-transcript --bench parse_codex_pi`; the target is 300 MB/s on one core.
//! On Linux the time is the processor's, not the clock's: a busy machine does not falsify it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench fails loudly"
)]

use std::{
    fs,
    hint::black_box,
    io::Cursor,
    time::{Duration, Instant},
};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use onrecord_transcript::{Grain, Harness, ParseOptions, parse};
use serde_json::json;

/// Text with the escapes that program output has: a newline in 60 bytes, a quote in 200.
fn output(bytes: usize, seed: usize) -> String {
    let line = "   Compiling harbour-alerts v0.3.1 (checked 1421 of 1904 pages)\n";
    let mut text =
        format!("Chunk ID: {seed:06x}\nWall time: 0.1 seconds\nProcess exited with code {}\nOutput:\n", seed % 9 / 8);
    while text.len() < bytes {
        text.push_str(line);
        if text.len() % 3 == 0 {
            text.push_str("warning: unused variable `\"tide\"`\n");
        }
    }
    text
}

fn lines(rows: &[serde_json::Value]) -> Vec<u8> {
    rows.iter().flat_map(|row| format!("{row}\n").into_bytes()).collect()
}

fn codex(turns: usize) -> Vec<u8> {
    let row = |kind: &str, payload: serde_json::Value| json!({"timestamp": "2026-03-02T10:00:00.000Z", "type": kind, "payload": payload});
    let mut rows = vec![row(
        "session_meta",
        json!({"id": "bench", "cwd": "/home/lin/app", "cli_version": "0.114.0", "model_provider": "openai", "base_instructions": {"text": "x".repeat(20_000)}}),
    )];
    for turn in 0..turns {
        let prompt = format!("Prompt number {turn}: look at the import again, it still fails for some customers.");
        rows.push(row(
            "turn_context",
            json!({"turn_id": format!("t{turn}"), "model": "gpt-5-codex", "cwd": "/home/lin/app"}),
        ));
        rows.push(row(
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}),
        ));
        rows.push(row("event_msg", json!({"type": "user_message", "message": prompt, "images": []})));
        for call in 0..10 {
            let id = format!("call_{turn}_{call}");
            let said =
                format!("Step {call} of turn {turn}: I look at what the last command printed and go on from there.");
            rows.push(row("response_item", json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": said}], "encrypted_content": "gAAAAAB".repeat(250)})));
            rows.push(row("event_msg", json!({"type": "agent_message", "message": said})));
            rows.push(row(
                "response_item",
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}),
            ));
            rows.push(row("response_item", json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"cargo build\",\"workdir\":\"/home/lin/app\"}", "call_id": id})));
            rows.push(row("response_item", json!({"type": "function_call_output", "call_id": id, "output": output(if call == 9 { 30_000 } else { 2_500 }, turn * 10 + call)})));
            rows.push(row("event_msg", json!({"type": "token_count", "info": {"total_token_usage": {"input_tokens": 1, "output_tokens": 2}}, "rate_limits": null})));
        }
    }
    lines(&rows)
}

fn compacted(megabytes: usize) -> Vec<u8> {
    let history: Vec<_> = (0..megabytes * 8).map(|n| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": output(120_000, n)}]})).collect();
    let mut bytes = codex(1);
    bytes.extend(lines(&[json!({"timestamp": "2026-03-02T10:00:00.000Z"})]));
    let mut row = format!(
        "{{\"timestamp\":\"2026-03-02T10:00:00.000Z\",\"type\":\"compacted\",\"payload\":{}}}\n",
        json!({"message": "", "replacement_history": history})
    )
    .into_bytes();
    bytes.append(&mut row);
    bytes
}

fn pi(turns: usize) -> Vec<u8> {
    let mut rows = vec![
        json!({"type": "session", "version": 3, "id": "bench", "timestamp": "2026-03-02T10:00:00.000Z", "cwd": "/home/dana/app"}),
    ];
    let mut last = serde_json::Value::Null;
    let mut number = 0;
    let mut push = |rows: &mut Vec<_>, message: serde_json::Value| {
        number += 1;
        let id = json!(format!("{number:08x}"));
        rows.push(json!({"type": "message", "id": id, "parentId": last, "timestamp": "2026-03-02T10:00:00.000Z", "message": message}));
        last = id;
    };
    for turn in 0..turns {
        push(
            &mut rows,
            json!({"role": "user", "content": [{"type": "text", "text": format!("Prompt number {turn}: the docs build is slow again.")}], "timestamp": 1}),
        );
        for call in 0..10 {
            let id = format!("call_{turn}_{call}");
            push(
                &mut rows,
                json!({"role": "assistant", "provider": "anthropic", "model": "claude-opus-4-5", "api": "anthropic-messages", "stopReason": "toolUse", "usage": {"input": 1, "output": 2, "cost": {"total": 0.01}}, "content": [{"type": "thinking", "thinking": "Look at it.", "thinkingSignature": "c2ln".repeat(300)}, {"type": "text", "text": "I look at what the last command printed."}, {"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": "make docs", "timeout": 60}}], "timestamp": 1}),
            );
            push(
                &mut rows,
                json!({"role": "toolResult", "toolCallId": id, "toolName": "bash", "content": [{"type": "text", "text": output(if call == 9 { 30_000 } else { 2_500 }, turn * 10 + call)}], "isError": false, "timestamp": 1}),
            );
        }
    }
    lines(&rows)
}

/// How long this thread has been on a processor, where the system says so.
fn on_processor() -> Option<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(told.split(' ').next()?.parse().ok()?))
}

fn bench(criterion: &mut Criterion) {
    let options = ParseOptions {
        grain: Grain::Turn,
        fallback_id: "bench".to_owned(),
        fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        path: None,
        home: None,
        branch: None,
        conversation: None,
    };
    let mut group = criterion.benchmark_group("parse");
    group.sample_size(10);
    let cases = [
        ("codex", Harness::Codex, codex(200)),
        ("codex, one compacted row", Harness::Codex, compacted(32)),
        ("pi", Harness::Pi, pi(200)),
    ];
    for (name, harness, bytes) in &cases {
        group.throughput(Throughput::BytesDecimal(u64::try_from(bytes.len()).unwrap()));
        group.bench_function(*name, |bencher| {
            bencher.iter_custom(|iterations| {
                let (clock, processor) = (Instant::now(), on_processor());
                for _ in 0..iterations {
                    black_box(parse(*harness, &mut Cursor::new(black_box(bytes)), &options).unwrap());
                }
                match (processor, on_processor()) {
                    (Some(before), Some(after)) => after - before,
                    _ => clock.elapsed(),
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
