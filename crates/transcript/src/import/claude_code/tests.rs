//! What is easier to see alone than in a whole transcript.

use super::injected::human_text;
use crate::import::model_name::provider_and_model;

#[test]
fn models_are_named_by_provider() {
    for (name, want) in [
        ("claude-opus-4-5-20251101", Some("anthropic/claude-opus-4-5-20251101")),
        ("anthropic/claude-sonnet-4.5", Some("anthropic/claude-sonnet-4.5")),
        ("openrouter/some/model", Some("openrouter/some/model")),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", Some("anthropic/claude-opus-4-1-20250805")),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", Some("anthropic/claude-3-5-sonnet-20241022")),
        (
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-v1:0",
            Some("anthropic/claude-sonnet-4"),
        ),
        ("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123", None),
        ("claude-sonnet-4@20250514", Some("anthropic/claude-sonnet-4-20250514")),
        ("claude-sonnet-4-5[1m]", Some("anthropic/claude-sonnet-4-5")),
        ("gpt-5.1-codex", Some("openai/gpt-5.1-codex")),
        ("glm-4.6", Some("zai/glm-4.6")),
        ("__proto__", Some("anthropic/__proto__")),
        ("<synthetic>", None),
        ("", None),
        (" \n", None),
    ] {
        assert_eq!(provider_and_model(name).as_deref(), want, "{name:?}");
    }
}

#[test]
fn what_a_person_wrote_is_told_from_what_was_put_in() {
    for (text, want) in [
        ("plain words", Some("plain words")),
        ("  kept as typed\n", Some("  kept as typed\n")),
        ("<b>bold</b>", Some("<b>bold</b>")),
        ("a <system-reminder>x\ny</system-reminder> b", Some("a  b")),
        ("<system-reminder>never closed", None),
        ("words\n<system-reminder>\nnever closed", Some("words")),
        ("words\n<system-reminder kind=\"x\">y</system-reminder>", Some("words")),
        ("I wrote <system-reminder> myself", Some("I wrote <system-reminder> myself")),
        ("<ide_selection>x</ide_selection>fix it", Some("fix it")),
        ("<task-notification>x</task-notification>\nread the rest", None),
        ("words\n<task-notification>x</task-notification>", Some("words")),
        ("Caveat: it is late", Some("Caveat: it is late")),
        ("[Request interrupted by user]", None),
        ("", None),
        ("\n", None),
    ] {
        assert_eq!(human_text(text).as_deref(), want, "{text:?}");
    }
}
