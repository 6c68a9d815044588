//! A conversation of any shape, written as each harness writes it and read back, is the same conversation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod support;

use std::io::Cursor;

use onrecord_transcript::{Harness, Part, Role, detect::detect, parse};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::options;

const START_MS: u64 = 1_767_225_600_000;

#[derive(Debug, Clone, PartialEq)]
struct Call {
    name: String,
    input: Value,
    output: String,
    failed: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Said {
    thought: String,
    text: String,
    calls: Vec<Call>,
}

/// A prompt and everything that the agent did until the next.
type Exchange = (String, Said);

fn words() -> impl Strategy<Value = String> {
    // No text that a program wraps around prompts begins like this.
    "[a-zA-Zé漢][a-zA-Z0-9 .,\"\\\\é漢👩{}\n]{0,30}[a-z.]"
}

fn call() -> impl Strategy<Value = Call> {
    ("[a-z]{3,8}", words(), words(), any::<bool>()).prop_map(|(name, argument, output, failed)| Call {
        name: format!("x{name}"),
        input: json!({ "q": argument }),
        output,
        failed,
    })
}

fn conversation() -> impl Strategy<Value = Vec<Exchange>> {
    let said = (prop::option::of(words()), words(), prop::collection::vec(call(), 0..3))
        .prop_map(|(thought, text, calls)| Said { thought: thought.unwrap_or_default(), text, calls });
    prop::collection::vec((words(), said), 1..5)
}

fn lines(rows: impl IntoIterator<Item = Value>) -> String {
    rows.into_iter().map(|row| format!("{row}\n")).collect()
}

fn id(exchange: usize, n: usize) -> String {
    format!("call-{exchange}-{n}")
}

/// Anthropic's blocks of an answer, and those of the results.
fn blocks(exchange: usize, said: &Said) -> (Vec<Value>, Vec<Value>) {
    let mut answer = Vec::new();
    if !said.thought.is_empty() {
        answer.push(json!({"type": "thinking", "thinking": said.thought, "signature": "s"}));
    }
    answer.push(json!({"type": "text", "text": said.text}));
    let mut results = Vec::new();
    for (n, call) in said.calls.iter().enumerate() {
        answer.push(json!({"type": "tool_use", "id": id(exchange, n), "name": call.name, "input": call.input}));
        results.push(json!({"type": "tool_result", "tool_use_id": id(exchange, n), "content": call.output, "is_error": call.failed}));
    }
    (answer, results)
}

/// Messages in Anthropic's blocks, in order: role and content.
fn messages(conversation: &[Exchange]) -> Vec<(&'static str, Vec<Value>)> {
    let mut messages = Vec::new();
    for (at, (prompt, said)) in conversation.iter().enumerate() {
        messages.push(("user", vec![json!({"type": "text", "text": prompt})]));
        let (answer, results) = blocks(at, said);
        messages.push(("assistant", answer));
        if !results.is_empty() {
            messages.push(("user", results));
        }
    }
    messages
}

fn time(n: usize) -> String {
    let n = u64::try_from(n).unwrap();
    format!("2026-01-01T{:02}:{:02}:{:02}.000Z", n / 3600, n / 60 % 60, n % 60)
}

/// OpenAI's chat messages.
fn chat(conversation: &[Exchange], camel: bool) -> Vec<Value> {
    let mut rows = Vec::new();
    for (at, (prompt, said)) in conversation.iter().enumerate() {
        rows.push(json!({"role": "user", "content": prompt}));
        let calls: Vec<Value> = said.calls.iter().enumerate().map(|(n, call)| json!({"id": id(at, n), "type": "function", "function": {"name": call.name, "arguments": call.input.to_string()}})).collect();
        let mut answer = json!({"role": "assistant", "content": said.text});
        answer[if camel { "toolCalls" } else { "tool_calls" }] = calls.into();
        if !said.thought.is_empty() {
            answer[if camel { "reasoningContent" } else { "reasoning_content" }] = said.thought.clone().into();
        }
        rows.push(answer);
        for (n, call) in said.calls.iter().enumerate() {
            let key = if camel { "toolCallId" } else { "tool_call_id" };
            rows.push(json!({"role": "tool", key: id(at, n), "content": call.output, "isError": call.failed}));
        }
    }
    rows
}

/// OpenAI's items.
fn items(exchange: usize, said: &Said) -> Vec<Value> {
    let mut items = Vec::new();
    if !said.thought.is_empty() {
        items.push(json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": said.thought}]}));
    }
    items
        .push(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said.text}]}));
    for (n, call) in said.calls.iter().enumerate() {
        items.push(json!({"type": "function_call", "call_id": id(exchange, n), "name": call.name, "arguments": call.input.to_string()}));
        let status = if call.failed { "failed" } else { "completed" };
        items.push(json!({"type": "function_call_output", "call_id": id(exchange, n), "output": call.output, "status": status}));
    }
    items
}

/// Gemini's parts of an answer without results.
fn parts(exchange: usize, said: &Said) -> Vec<Value> {
    let mut parts = Vec::new();
    if !said.thought.is_empty() {
        parts.push(json!({"text": said.thought, "thought": true}));
    }
    parts.push(json!({"text": said.text}));
    for (n, call) in said.calls.iter().enumerate() {
        parts.push(json!({"functionCall": {"id": id(exchange, n), "name": call.name, "args": call.input}}));
    }
    parts
}

/// The conversation as a transcript of `harness`; `None` where it keeps no such thing in a file of text.
fn written(harness: Harness, conversation: &[Exchange]) -> Option<String> {
    let each = || conversation.iter().enumerate();
    let calls = |said: &Said| said.calls.clone().into_iter().enumerate().collect::<Vec<_>>();
    Some(match harness {
        Harness::ClaudeCode => {
            let mut rows = Vec::new();
            let mut parent = Value::Null;
            for (n, (role, content)) in messages(conversation).into_iter().enumerate() {
                let uuid = format!("row-{n}");
                let mut message = json!({"role": role, "content": content});
                if role == "assistant" {
                    message["id"] = format!("msg-{n}").into();
                    message["model"] = "claude-opus-4-5".into();
                }
                rows.push(json!({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": time(n), "message": message}));
                parent = uuid.into();
            }
            lines(rows)
        }
        Harness::Pi => {
            let mut rows = vec![json!({"type": "session", "version": 3, "id": "s", "timestamp": time(0), "cwd": "/w"})];
            let mut parent = Value::Null;
            let mut push = |message: Value| {
                let id = format!("{:08x}", rows.len());
                rows.push(json!({"type": "message", "id": id, "parentId": parent, "timestamp": time(rows.len()), "message": message}));
                parent = id.into();
            };
            for (at, (prompt, said)) in each() {
                push(json!({"role": "user", "content": [{"type": "text", "text": prompt}]}));
                let mut content = Vec::new();
                if !said.thought.is_empty() {
                    content.push(json!({"type": "thinking", "thinking": said.thought}));
                }
                content.push(json!({"type": "text", "text": said.text}));
                content.extend(calls(said).into_iter().map(|(n, call)| json!({"type": "toolCall", "id": id(at, n), "name": call.name, "arguments": call.input})));
                push(
                    json!({"role": "assistant", "content": content, "provider": "anthropic", "model": "claude-opus-4-5", "stopReason": "stop"}),
                );
                for (n, call) in calls(said) {
                    push(
                        json!({"role": "toolResult", "toolCallId": id(at, n), "toolName": call.name, "content": [{"type": "text", "text": call.output}], "isError": call.failed}),
                    );
                }
            }
            lines(rows)
        }
        Harness::OpenCode => {
            let mut all = Vec::new();
            for (at, (prompt, said)) in each() {
                all.push(json!({"info": {"id": format!("u{at}"), "role": "user"}, "parts": [{"type": "text", "text": prompt}]}));
                let mut parts = vec![json!({"type": "step-start"})];
                if !said.thought.is_empty() {
                    parts.push(json!({"type": "reasoning", "text": said.thought}));
                }
                parts.push(json!({"type": "text", "text": said.text}));
                for (n, call) in calls(said) {
                    let state = if call.failed {
                        json!({"status": "error", "input": call.input, "error": call.output})
                    } else {
                        json!({"status": "completed", "input": call.input, "output": call.output})
                    };
                    parts.push(json!({"type": "tool", "callID": id(at, n), "tool": call.name, "state": state}));
                }
                all.push(json!({"info": {"id": format!("a{at}"), "role": "assistant", "modelID": "m", "providerID": "p"}, "parts": parts}));
            }
            json!({"info": {"id": "s", "directory": "/w"}, "messages": all}).to_string()
        }
        Harness::GeminiCli => {
            let mut rows = vec![json!({"sessionId": "s", "projectHash": "h", "startTime": time(0)})];
            for (at, (prompt, said)) in each() {
                rows.push(json!({"id": format!("u{at}"), "type": "user", "content": [{"text": prompt}]}));
                let thoughts: Vec<Value> =
                    if said.thought.is_empty() { vec![] } else { vec![json!({"description": said.thought})] };
                let tools: Vec<Value> = calls(said).into_iter().map(|(n, call)| {
                    let key = if call.failed { "error" } else { "output" };
                    let status = if call.failed { "error" } else { "success" };
                    json!({"id": id(at, n), "name": call.name, "args": call.input, "status": status, "result": [{"functionResponse": {"id": id(at, n), "response": {key: call.output}}}]})
                }).collect();
                // A first, unfinished writing of the same message.
                rows.push(json!({"id": format!("a{at}"), "type": "gemini", "content": "unfinished"}));
                rows.push(json!({"id": format!("a{at}"), "type": "gemini", "content": said.text, "thoughts": thoughts, "toolCalls": tools}));
            }
            lines(rows)
        }
        Harness::CopilotCli => {
            let mut rows = Vec::new();
            let mut push = |kind: &str, data: Value| {
                rows.push(json!({"type": kind, "id": format!("e{}", rows.len()), "timestamp": time(rows.len()), "data": data}));
            };
            push("session.start", json!({"sessionId": "s"}));
            for (at, (prompt, said)) in each() {
                push("user.message", json!({"content": prompt}));
                let requests: Vec<Value> = calls(said)
                    .into_iter()
                    .map(|(n, call)| json!({"toolCallId": id(at, n), "name": call.name, "arguments": call.input}))
                    .collect();
                let mut data = json!({"content": said.text, "toolRequests": requests});
                if !said.thought.is_empty() {
                    data["reasoningText"] = said.thought.clone().into();
                }
                push("assistant.message", data);
                for (n, call) in calls(said) {
                    let outcome =
                        if call.failed { json!({"message": call.output}) } else { json!({"content": call.output}) };
                    let key = if call.failed { "error" } else { "result" };
                    push(
                        "tool.execution_complete",
                        json!({"toolCallId": id(at, n), "success": !call.failed, key: outcome}),
                    );
                }
            }
            lines(rows)
        }
        Harness::VsCodeChat => {
            let mut rows = vec![json!({"kind": 0, "v": {"sessionId": "s", "creationDate": START_MS, "requests": []}})];
            for (at, (prompt, said)) in each() {
                let mut response = Vec::new();
                if !said.thought.is_empty() {
                    response.push(json!({"kind": "thinking", "value": said.thought}));
                }
                response.push(json!({"value": said.text}));
                let mut announced = Vec::new();
                let mut results = serde_json::Map::new();
                for (n, call) in calls(said) {
                    response.push(json!({"kind": "toolInvocationSerialized", "toolId": call.name, "toolCallId": id(at, n), "isComplete": true, "resultDetails": {"isError": call.failed}}));
                    announced.push(json!({"id": id(at, n), "name": call.name, "arguments": call.input.to_string()}));
                    results.insert(id(at, n), json!({"content": [{"value": call.output}]}));
                }
                rows.push(json!({"kind": 2, "k": ["requests"], "v": [{"requestId": format!("r{at}"), "timestamp": START_MS, "message": {"text": prompt}, "response": []}]}));
                rows.push(json!({"kind": 2, "k": ["requests", at, "response"], "v": response}));
                rows.push(json!({"kind": 1, "k": ["requests", at, "result"], "v": {"metadata": {"toolCallRounds": [{"toolCalls": announced}], "toolCallResults": results}}}));
            }
            lines(rows)
        }
        Harness::Cursor => lines(
            messages(conversation)
                .into_iter()
                .map(|(role, content)| json!({"role": role, "message": {"content": content}})),
        ),
        Harness::Droid => {
            let mut rows = vec![json!({"type": "session_start", "id": "s", "cwd": "/w"})];
            for (n, (role, content)) in messages(conversation).into_iter().enumerate() {
                rows.push(json!({"type": "message", "id": format!("m{n}"), "timestamp": time(n), "message": {"role": role, "content": content}}));
            }
            lines(rows)
        }
        Harness::Cline => {
            let all: Vec<Value> = messages(conversation)
                .into_iter()
                .map(|(role, content)| json!({"role": role, "content": content, "ts": START_MS}))
                .collect();
            Value::Array(all).to_string()
        }
        Harness::Amp => {
            let all: Vec<Value> = messages(conversation)
                .into_iter()
                .map(|(role, mut content)| {
                    for block in &mut content {
                        if block["type"] == "tool_result" {
                            let run = if block["is_error"] == true {
                                json!({"status": "error", "error": {"message": block["content"]}})
                            } else {
                                json!({"status": "done", "result": block["content"]})
                            };
                            *block = json!({"type": "tool_result", "toolUseID": block["tool_use_id"], "run": run});
                        }
                    }
                    json!({"role": role, "content": content})
                })
                .collect();
            json!({"v": 1, "id": "T-1", "created": START_MS, "messages": all}).to_string()
        }
        Harness::Goose => {
            let mut rows = vec![json!({"working_dir": "/w", "description": "d"})];
            for (role, content) in messages(conversation) {
                let content: Vec<Value> = content
                    .into_iter()
                    .map(|block| match block["type"].as_str() {
                        Some("tool_use") => json!({"type": "toolRequest", "id": block["id"], "toolCall": {"status": "success", "value": {"name": block["name"], "arguments": block["input"]}}}),
                        Some("tool_result") if block["is_error"] == true => json!({"type": "toolResponse", "id": block["tool_use_id"], "toolResult": {"status": "error", "error": block["content"]}}),
                        Some("tool_result") => json!({"type": "toolResponse", "id": block["tool_use_id"], "toolResult": {"status": "success", "value": [{"type": "text", "text": block["content"]}]}}),
                        _ => block,
                    })
                    .collect();
                rows.push(json!({"role": role, "created": START_MS / 1000, "content": content}));
            }
            lines(rows)
        }
        Harness::Zed => {
            let mut all = Vec::new();
            for (at, (prompt, said)) in each() {
                all.push(json!({"User": {"id": format!("u{at}"), "content": [{"Text": prompt}]}}));
                let mut content = Vec::new();
                if !said.thought.is_empty() {
                    content.push(json!({"Thinking": {"text": said.thought, "signature": null}}));
                }
                content.push(json!({"Text": said.text}));
                let mut results = serde_json::Map::new();
                for (n, call) in calls(said) {
                    content.push(
                        json!({"ToolUse": {"id": id(at, n), "name": call.name, "raw_input": "", "input": call.input}}),
                    );
                    results.insert(id(at, n), json!({"is_error": call.failed, "content": {"Text": call.output}}));
                }
                all.push(json!({"Agent": {"content": content, "tool_results": results}}));
            }
            json!({"version": "0.3.0", "title": "t", "messages": all}).to_string()
        }
        Harness::Qwen => {
            let mut rows = Vec::new();
            let mut push = |kind: &str, parts: Value, status: Option<&str>| {
                let n = rows.len();
                let parent = n.checked_sub(1).map_or(Value::Null, |n| format!("q{n}").into());
                let mut row = json!({"uuid": format!("q{n}"), "parentUuid": parent, "sessionId": "s", "timestamp": time(n), "type": kind, "message": {"parts": parts}});
                if let Some(status) = status {
                    row["toolCallResult"] = json!({"status": status});
                }
                rows.push(row);
            };
            for (at, (prompt, said)) in each() {
                push("user", json!([{"text": prompt}]), None);
                push("assistant", parts(at, said).into(), None);
                for (n, call) in calls(said) {
                    let status = if call.failed { "error" } else { "success" };
                    push(
                        "tool_result",
                        json!([{"functionResponse": {"id": id(at, n), "name": call.name, "response": {"output": call.output}}}]),
                        Some(status),
                    );
                }
            }
            lines(rows)
        }
        Harness::Kimi => {
            let mut rows = Vec::new();
            let mut push = |kind: &str, payload: Value| {
                rows.push(json!({"timestamp": 1_767_225_600, "message": {"type": kind, "payload": payload}}));
            };
            for (at, (prompt, said)) in each() {
                push("TurnBegin", json!({"user_input": prompt}));
                push("StepBegin", json!({"n": 1}));
                if !said.thought.is_empty() {
                    push("ContentPart", json!({"type": "think", "think": said.thought}));
                }
                // In two pieces, as a stream comes.
                let half = said.text.char_indices().nth(1).map_or(0, |(at, _)| at);
                push("ContentPart", json!({"type": "text", "text": &said.text[..half]}));
                push("ContentPart", json!({"type": "text", "text": &said.text[half..]}));
                for (n, call) in calls(said) {
                    let arguments = call.input.to_string();
                    push(
                        "ToolCall",
                        json!({"type": "function", "id": id(at, n), "function": {"name": call.name, "arguments": &arguments[..2]}}),
                    );
                    push("ToolCallPart", json!({"arguments_part": &arguments[2..]}));
                }
                for (n, call) in calls(said) {
                    push(
                        "ToolResult",
                        json!({"tool_call_id": id(at, n), "return_value": {"is_error": call.failed, "output": call.output}}),
                    );
                }
            }
            lines(rows)
        }
        Harness::OpenHands => {
            let mut events = Vec::new();
            let mut push = |mut event: Value| {
                event["id"] = format!("e{}", events.len()).into();
                event["timestamp"] = time(events.len()).trim_end_matches('Z').into();
                events.push(event);
            };
            for (at, (prompt, said)) in each() {
                push(
                    json!({"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": [{"type": "text", "text": prompt}]}}),
                );
                let mut message = json!({"kind": "MessageEvent", "source": "agent", "llm_message": {"role": "assistant", "content": [{"type": "text", "text": said.text}]}});
                if !said.thought.is_empty() {
                    message["llm_message"]["reasoning_content"] = said.thought.clone().into();
                }
                push(message);
                for (n, call) in calls(said) {
                    push(
                        json!({"kind": "ActionEvent", "source": "agent", "thought": [], "tool_name": call.name, "tool_call_id": id(at, n), "tool_call": {"name": call.name, "arguments": call.input.to_string()}, "action": {}}),
                    );
                    push(
                        json!({"kind": "ObservationEvent", "source": "environment", "tool_call_id": id(at, n), "observation": {"content": [{"type": "text", "text": call.output}], "is_error": call.failed}}),
                    );
                }
            }
            json!({ "items": events }).to_string()
        }
        Harness::Continue => {
            let mut history = Vec::new();
            for (at, (prompt, said)) in each() {
                history.push(json!({"message": {"role": "user", "content": prompt}}));
                if !said.thought.is_empty() {
                    history.push(json!({"message": {"role": "thinking", "content": said.thought}}));
                }
                let made: Vec<Value> = calls(said).into_iter().map(|(n, call)| json!({"id": id(at, n), "function": {"name": call.name, "arguments": call.input.to_string()}})).collect();
                let states: Vec<Value> = calls(said).into_iter().map(|(n, call)| json!({"toolCallId": id(at, n), "status": if call.failed { "errored" } else { "done" }, "output": [{"content": call.output}]})).collect();
                history.push(json!({"message": {"role": "assistant", "content": said.text, "toolCalls": made}, "toolCallStates": states}));
            }
            json!({"sessionId": "s", "title": "t", "history": history}).to_string()
        }
        Harness::ChatGpt => {
            let mut mapping = serde_json::Map::new();
            let mut last = Value::Null;
            let mut push = |message: Value| {
                let id = format!("n{}", mapping.len());
                let mut message = message;
                message["id"] = id.clone().into();
                mapping.insert(id.clone(), json!({"id": id, "parent": last, "message": message}));
                last = id.into();
            };
            for (_, (prompt, said)) in each() {
                push(json!({"author": {"role": "user"}, "content": {"content_type": "text", "parts": [prompt]}}));
                if !said.thought.is_empty() {
                    push(
                        json!({"author": {"role": "assistant"}, "content": {"content_type": "thoughts", "thoughts": [{"content": said.thought}]}}),
                    );
                }
                push(
                    json!({"author": {"role": "assistant"}, "recipient": "all", "content": {"content_type": "text", "parts": [said.text]}}),
                );
                for (_, call) in calls(said) {
                    push(
                        json!({"author": {"role": "assistant"}, "recipient": call.name, "content": {"content_type": "code", "language": "json", "text": call.input.to_string()}}),
                    );
                    let run = if call.failed {
                        json!({"status": "failed_with_in_kernel_exception"})
                    } else {
                        json!({"status": "success"})
                    };
                    push(
                        json!({"author": {"role": "tool", "name": call.name}, "content": {"content_type": "execution_output", "text": call.output}, "metadata": {"aggregate_result": run}}),
                    );
                }
            }
            json!([{"conversation_id": "c", "title": "t", "create_time": 1_767_225_600.5, "current_node": last, "mapping": mapping}]).to_string()
        }
        Harness::ClaudeAi => {
            let mut all = Vec::new();
            let mut parent = Value::from("00000000-0000-4000-8000-000000000000");
            for (at, (prompt, said)) in each() {
                let (answer, results) = blocks(at, said);
                for (sender, content) in [
                    ("human", vec![json!({"type": "text", "text": prompt})]),
                    ("assistant", [answer, results].concat()),
                ] {
                    let uuid = format!("m{}", all.len());
                    all.push(json!({"uuid": uuid, "parent_message_uuid": parent, "sender": sender, "text": "merged", "content": content, "created_at": time(all.len())}));
                    parent = uuid.into();
                }
            }
            json!([{"uuid": "c", "name": "t", "chat_messages": all}]).to_string()
        }
        Harness::OpenWebUi => {
            let mut all = serde_json::Map::new();
            let mut last = Value::Null;
            for (at, (prompt, said)) in each() {
                for (role, content, output) in
                    [("user", prompt.clone(), vec![]), ("assistant", "shown".to_owned(), items(at, said))]
                {
                    let id = format!("m{}", all.len());
                    all.insert(id.clone(), json!({"id": id, "parentId": last, "role": role, "content": content, "output": output, "timestamp": 1_767_225_600}));
                    last = id.into();
                }
            }
            json!([{"id": "c", "title": "t", "chat": {"history": {"currentId": last, "messages": all}}}]).to_string()
        }
        Harness::Atif => {
            let mut steps = Vec::new();
            for (at, (prompt, said)) in each() {
                steps.push(json!({"step_id": steps.len(), "source": "user", "message": prompt}));
                let made: Vec<Value> = calls(said).into_iter().map(|(n, call)| json!({"tool_call_id": id(at, n), "function_name": call.name, "arguments": call.input})).collect();
                let results: Vec<Value> = calls(said).into_iter().map(|(n, call)| json!({"source_call_id": id(at, n), "content": call.output, "extra": {"failed": call.failed}})).collect();
                let mut step = json!({"step_id": steps.len(), "source": "agent", "message": said.text, "tool_calls": made, "observation": {"results": results}});
                if !said.thought.is_empty() {
                    step["reasoning_content"] = said.thought.clone().into();
                }
                steps.push(step);
            }
            json!({"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": steps}).to_string()
        }
        Harness::Sts => {
            let header = json!({"type": "session", "harness": "x", "id": "s"});
            lines(std::iter::once(header).chain(
                chat(conversation, true).into_iter().map(|message| json!({"type": "message", "message": message})),
            ))
        }
        Harness::OpenAiChat => Value::Array(chat(conversation, false)).to_string(),
        Harness::OpenAiResponses => {
            let mut all = Vec::new();
            for (at, (prompt, said)) in each() {
                all.push(
                    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}),
                );
                all.extend(items(at, said));
            }
            Value::Array(all).to_string()
        }
        _ => return None,
    })
}

/// What was read, in the same shape.
fn read(harness: Harness, text: &str) -> Vec<(Role, Said)> {
    let mut parsed = parse(harness, &mut Cursor::new(text), &options(None)).unwrap();
    assert_eq!(parsed.conversations.len(), 1);
    let conversation = parsed.conversations.remove(0);
    assert!(conversation.warnings.is_empty(), "{harness}: {:?}", conversation.warnings);
    conversation
        .turns
        .into_iter()
        .map(|turn| {
            let mut said = Said { text: turn.text, ..Said::default() };
            for part in turn.parts {
                match part {
                    Part::Reasoning { text } => said.thought.push_str(&text),
                    Part::ToolCall { name, input, output, failed, .. } => {
                        said.calls.push(Call { name, input, output: output.unwrap_or_default(), failed });
                    }
                    Part::Text { .. } | Part::Image { .. } => {}
                }
            }
            (turn.role, said)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(conversation in conversation()) {
        let mut expected = Vec::new();
        for (prompt, said) in &conversation {
            expected.push((Role::User, Said { text: prompt.clone(), ..Said::default() }));
            expected.push((Role::Assistant, said.clone()));
        }
        let mut tried = 0;
        for harness in Harness::ALL {
            let Some(text) = written(harness, &conversation) else { continue };
            tried += 1;
            prop_assert_eq!(detect(text.as_bytes()), Some(harness), "{}", text);
            prop_assert_eq!(&read(harness, &text), &expected, "{}: {}", harness, text);
        }
        prop_assert!(tried > 22);
    }
}
