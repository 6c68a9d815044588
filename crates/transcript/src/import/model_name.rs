//! A model's name as `provider/model`.

/// Beginnings of the names of other providers' models: Claude Code talks to them through a proxy, and
/// to say that Anthropic made them would be false.
const OTHERS: [(&str, &str); 23] = [
    ("claude", "anthropic"),
    ("chatgpt-", "openai"),
    ("text-davinci", "openai"),
    ("gemma", "google"),
    ("codestral", "mistral"),
    ("ministral", "mistral"),
    ("command-", "cohere"),
    ("phi-", "microsoft"),
    ("gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4-", "openai"),
    ("codex-", "openai"),
    ("gemini-", "google"),
    ("deepseek-", "deepseek"),
    ("glm-", "zai"),
    ("grok-", "xai"),
    ("kimi-", "moonshotai"),
    ("minimax-", "minimax"),
    ("qwen", "qwen"),
    ("mistral-", "mistral"),
    ("devstral-", "mistral"),
    ("llama", "meta"),
];

/// `provider/model` for the model of an agent's row; `None` for the harness's own error texts and
/// for a name that says nothing.
///
/// A name with a provider stays. Bedrock's `us.anthropic.claude-…-v1:0`, also behind an ARN (which
/// holds an account number), and Vertex's `claude-…@20250805` lose what says only where the model ran.
pub(crate) fn provider_and_model(name: &str) -> Option<String> {
    let name: String = name.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    if name.is_empty() || name == "<synthetic>" || name == "unknown" {
        return None;
    }
    let mut model = name.as_str();
    if model.starts_with("arn:") {
        model = model.rsplit('/').next().filter(|last| last.contains("anthropic."))?;
    }
    // A mark of the context window, not of the model.
    if let Some((before, mark)) = model.rsplit_once('[')
        && mark.ends_with(']')
        && !before.is_empty()
    {
        model = before;
    }
    if let Some((regions, rest)) = model.split_once("anthropic.")
        && (regions.is_empty() || regions.strip_suffix('.').is_some_and(is_region))
        && !rest.is_empty()
    {
        return Some(format!("anthropic/{}", without_bedrock_version(rest)));
    }
    if let Some((provider, rest)) = model.split_once('/')
        && !provider.is_empty()
        && !rest.is_empty()
    {
        return Some(model.to_owned());
    }
    if model.starts_with("claude") {
        return Some(format!("anthropic/{}", model.replace('@', "-")));
    }
    Some(format!("{}/{model}", maker_of(model).unwrap_or("anthropic")))
}

/// `provider/model` of any harness's words: with the provider that it names; else with the one in the model's name, the one
/// whose models have such names, or `usual`. `None` for a name that says nothing.
pub(crate) fn named(provider: Option<&str>, name: &str, usual: Option<&str>) -> Option<String> {
    let clean = |name: &str| -> String { name.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect() };
    let model = clean(name);
    if model.is_empty() || matches!(model.as_str(), "<synthetic>" | "unknown" | "auto" | "default" | "null") {
        return None;
    }
    let provider = provider.map(clean).filter(|provider| !provider.is_empty());
    Some(match provider {
        Some(provider) if model.starts_with(&format!("{provider}/")) => model,
        Some(provider) => format!("{provider}/{model}"),
        None if model.contains('/') => model,
        None => match maker_of(&model).or(usual) {
            Some(maker) => format!("{maker}/{model}"),
            None => model,
        },
    })
}

/// Who makes the models whose names begin so.
fn maker_of(model: &str) -> Option<&'static str> {
    let lower = model.to_ascii_lowercase();
    OTHERS.iter().find(|(start, _)| lower.starts_with(start)).map(|(_, name)| *name)
}

fn is_region(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
}

/// `claude-x-v1:0` as `claude-x`.
fn without_bedrock_version(model: &str) -> &str {
    let Some((before, version)) = model.rsplit_once("-v") else { return model };
    let is_version = version.starts_with(|c: char| c.is_ascii_digit())
        && version.chars().all(|c| c.is_ascii_digit() || c == ':' || c == 'k')
        && version.contains(':');
    if is_version { before } else { model }
}
