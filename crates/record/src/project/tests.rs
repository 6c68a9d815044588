use onrecord_transcript::{Conversation, Grain, Harness, Message, Part, Role, Source, assemble};
use serde_json::json;

use super::project;

fn conversation(title_is_prompt: bool) -> Conversation {
    let at = "2026-03-04T05:06:07Z".parse().unwrap();
    let message = |role, parts| Message { id: None, role, created_at: at, model: None, parts };
    let messages = [
        message(
            Role::User,
            vec![Part::Text { text: "Look at this".into() }, Part::Image { mime_type: "image/png".into(), bytes: 12 }],
        ),
        message(
            Role::Assistant,
            vec![
                Part::Reasoning { text: "Hidden thought".into() },
                Part::Text { text: "I see.".into() },
                Part::ToolCall {
                    id: "c".into(),
                    name: "Read".into(),
                    input: json!({"path": "a.rs"}),
                    output: Some("Hidden output".into()),
                    failed: true,
                },
            ],
        ),
    ];
    Conversation {
        source: Source { harness: Harness::Pi, id: "s".into(), path: None, version: None, cwd: None, parent: None },
        title: Some("Look at this".into()),
        title_is_prompt,
        created_at: at,
        turns: assemble(messages, Grain::Turn, |_, _| "a.rs".into()),
        warnings: Vec::new(),
    }
}

#[test]
fn reasoning_outputs_and_images_stay_behind_and_are_counted() {
    let (draft, lost) = project(&conversation(false));
    let text = format!("{draft:?}");
    assert!(!text.contains("Hidden"), "{text}");
    assert_eq!((draft.turns[1].steps[0].summary.as_str(), draft.turns[1].steps[0].failed), ("a.rs", true));
    let lost: Vec<_> = lost.iter().map(|l| (l.what, l.count)).collect();
    assert_eq!(lost, [("reasoning", 1), ("tool output", 1), ("image", 1)]);
}

#[test]
fn a_title_that_is_only_the_first_prompt_is_not_published() {
    assert_eq!(project(&conversation(true)).0.title, None);
    assert_eq!(project(&conversation(false)).0.title.as_deref(), Some("Look at this"));
}
