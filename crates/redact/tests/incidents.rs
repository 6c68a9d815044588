//! What happened to others and must not happen here: secrets that were not seen.
//!
//! One test for each public incident, named by what it makes sure of. Covering wrongly: `incidents_more.rs`; what concerns
//! files, pages and commands: the command line's own `incidents.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use common::{
    draft, key, scanned, step,
    story::{ALNUM, BASE64, DIGITS, HEX, base64, base64url, github, hides, made, stopped, told, told_with},
    texts,
};
use onrecord_redact::Decisions;

/// opencode #48305: pages of shared sessions showed the keys of two services, in what the model wrote and in what its tools
/// were called with, and the paths of the author's home.
#[test]
fn a_shared_session_shows_no_key_that_its_tools_used() {
    let (crawl, router) = (made(1, HEX, 32), made(2, HEX, 64));
    let mut draft = draft(&[
        "Crawl the docs, please.",
        &format!("I read /home/dana/notes/.env: it has FIRECRAWL_API_KEY=fc-{crawl} and sk-or-v1-{router}."),
    ]);
    draft.turns[1].steps.push(step("Bash", &format!("curl -H 'Authorization: Bearer fc-{crawl}' https://api.example")));
    draft.turns[1].steps.push(step("mcp__router__ask", &format!("key sk-or-v1-{router}")));
    let reviewed = told(&draft, &[&crawl, &router, "/home/dana"]);
    assert_eq!(reviewed.turns()[1].content().unwrap().steps()[1].summary, "key ███");
}

/// claude-code #86707: a month of transcripts held live credentials that nobody had typed; all came back from commands.
#[test]
fn secrets_that_came_back_from_a_command_are_found_where_the_agent_repeats_them() {
    let (storage, sql, twilio) = (made(1, BASE64, 86), made(2, ALNUM, 20), made(3, HEX, 32));
    let refresh = ["1/", "/0", &made(4, ALNUM, 60)].concat();
    let draft = draft(&[
        "Why does the deployment fail?",
        &format!(
            "It printed its settings:\nDefaultEndpointsProtocol=https;AccountName=acme;AccountKey={storage}==;\n\
             Server=tcp:acme.database.example;Database=shop;User ID=admin;Password={sql};Encrypt=True;\n\
             TWILIO_AUTH_TOKEN={twilio}\n\"refresh_token\": \"{refresh}\""
        ),
    ]);
    told(&draft, &[&storage, &sql, &twilio, &refresh]);
}

/// claude-code #71654: a password store printed a token where an error was expected, and an exception's text carried the
/// `Authorization` header of the request that failed.
#[test]
fn a_token_in_the_text_of_an_exception_is_found() {
    let (token, token_body) = github(1);
    let admin = made(2, HEX, 40);
    let draft = draft(&[
        &format!("$ pass show forge/key 2>&1 | head -8\n{token}"),
        &format!(
            "urllib.error.HTTPError: HTTP Error 403: Forbidden; request headers {{'Accept': '*/*', 'Authorization': 'token \
             {admin}', 'User-agent': 'x'}}"
        ),
    ]);
    let reviewed = told(&draft, &[&token_body, &admin]);
    assert!(texts(&reviewed)[1].contains("'Authorization': 'token ███', 'User-agent': 'x'"));
}

/// Of the kind of claude-code #52375: the session's own record keeps the credentials it worked with, its own login too.
#[test]
fn the_agents_own_login_is_found() {
    let (access, refresh) = (made(1, ALNUM, 95), made(2, ALNUM, 95));
    let draft = draft(&[
        "What is in ~/.claude/.credentials.json?",
        &format!(
            "{{\"claudeAiOauth\":{{\"accessToken\":\"sk-ant-oat01-{access}\",\"refreshToken\":\"sk-ant-ort01-{refresh}\"}}}}"
        ),
    ]);
    let reviewed = told(&draft, &[&access, &refresh]);
    let shown: serde_json::Value = serde_json::from_str(texts(&reviewed)[1]).unwrap();
    assert_eq!(shown["claudeAiOauth"]["accessToken"], "███");
}

/// claude-code #63593: eight families of secrets lay in transcripts that a folder of settings carried into a repository.
#[test]
fn eight_kinds_of_secrets_in_one_transcript_are_all_found() {
    let bodies: Vec<String> = [(ALNUM, 93), (HEX, 64), (ALNUM, 32), (HEX, 40), (ALNUM, 33), (ALNUM, 36), (ALNUM, 35)]
        .into_iter()
        .zip(1..)
        .map(|((alphabet, length), seed)| made(seed, alphabet, length))
        .collect();
    let bot = made(9, DIGITS, 10);
    let line = made(10, BASE64, 64);
    let key =
        ["-----BEGIN PRIV", "ATE KEY-----\\n", &line, "\\n", &line, "\\n-----END PRIV", "ATE KEY-----\\n"].concat();
    let secrets = [
        format!("ANTHROPIC_API_KEY=sk-ant-api03-{}AA", bodies[0]),
        format!("OPENROUTER_API_KEY=sk-or-v1-{}", bodies[1]),
        format!("STRIPE_WEBHOOK_SECRET=whsec_{}", bodies[2]),
        format!("SUPABASE_ACCESS_TOKEN=sbp_{}", bodies[3]),
        format!("https://api.telegram.org/bot{bot}:AA{}/getMe", bodies[4]),
        format!("git remote add origin https://x:{}{}@github.com/acme/app", "ghp_", bodies[5]),
        format!("maps.key = AIza{}", bodies[6]),
        format!("{{\"type\": \"service_account\", \"private_key\": \"{key}\", \"client_id\": \"1\"}}"),
    ];
    let mut hidden: Vec<&str> = bodies.iter().map(String::as_str).collect();
    hidden.push(&line);
    for secret in &secrets {
        let alone = draft(&[secret]);
        assert!(scanned(&alone, &Decisions::default()).undecided() > 0, "{}", &secret[..12]);
    }
    let together = draft(&[&secrets.join("\n"), &secrets.join(" ; ")]);
    told(&together, &hidden);
}

/// Of the kind of entireio/cli #253: what is stored beside the conversation (its title, the prompt, a line on each call)
/// says the same secrets.
#[test]
fn title_description_model_and_summaries_are_covered_like_the_text() {
    let (token, token_body) = github(3);
    let mut draft = draft(&["Which remote?", "origin"]);
    draft.title = Some(format!("Push with {token}"));
    draft.description = Some(format!("How I pushed with {token}."));
    draft.turns[1].model = Some(format!("local/{token}"));
    draft.turns[1].steps.push(step(&format!("run_{token}"), &format!("git push https://{token}@github.com/acme/app")));
    let reviewed = told(&draft, &[&token_body]);
    assert_eq!(reviewed.title(), Some("Push with ███"));
    assert_eq!(reviewed.description(), Some("How I pushed with ███."));
}

/// entireio/cli #1716: a key with its provider's own prefix went through, since only its randomness was looked at and there
/// was too little of it.
#[test]
fn a_key_with_a_known_prefix_needs_no_randomness() {
    let body = ["probe_", "20260710_", "7f91c2d8"].concat();
    let key = ["sb_", "secret_", &body].concat();
    let mut draft = draft(&[&format!("Use {key} for it."), "Done."]);
    draft.turns[1].steps.push(step("Bash", &format!("supabase link --key {key}")));
    let found = scanned(&draft, &Decisions::default());
    let places: Vec<(String, bool)> = found.findings.iter().map(|f| (f.field.to_string(), f.blocking)).collect();
    assert_eq!(places, [("text".to_owned(), true), ("steps[0].summary".to_owned(), true)]);
    told(&draft, &[&body]);
}

/// entireio/cli PR #156: the filter put on the stored lines of JSON did not see secrets behind the escapes of strings.
#[test]
fn a_secret_behind_the_escapes_of_a_string_within_a_string_is_found() {
    for seed in 1..4 {
        let (token, token_body) = github(seed);
        let mut said = format!("export A=1\nexport GITHUB_TOKEN=\"{token}\"\t# push\n{token}");
        for depth in 0..4 {
            let reviewed = told(&draft(&["Show the line.", &said]), &[&token_body]);
            assert_eq!(texts(&reviewed)[1].matches("███").count(), 2, "{depth} strings deep");
            said = serde_json::json!({"type": "tool_result", "content": said}).to_string();
        }
    }
}

/// Of the kind of entireio/cli #2060: the scanner's own comments for switching it off stand in what it scans.
#[test]
fn no_comment_in_the_text_switches_anything_off() {
    let (token, token_body) = github(5);
    for comment in [
        "# gitleaks:allow",
        "// betterleaks:allow",
        "# pragma: allowlist secret",
        "# nosec",
        "<!-- secretlint-disable -->",
        "# noqa: S105",
        "# kingfisher:ignore",
        "trufflehog:ignore",
        "onrecord: allow github-token because it is an example",
    ] {
        let said = format!("{comment}\nGITHUB_TOKEN={token} {comment}\n{comment}");
        let reviewed = told(&draft(&[comment, &said]), &[&token_body]);
        assert_eq!(texts(&reviewed)[1], format!("{comment}\nGITHUB_TOKEN=███ {comment}\n{comment}"));
    }
}

/// Of the kind of kcap-cli #681: only the results of tools were looked at, and a prompt or an answer went out as it was. And
/// kcap-cli PR #129: a key block whose end had been cut off kept the scanner busy for minutes.
#[test]
fn a_secret_is_found_whoever_says_it_and_a_key_block_without_its_end_too() {
    let (token, token_body) = github(6);
    for place in 0..2 {
        let mut said = ["Go on.".to_owned(), "Gladly.".to_owned()];
        said[place] = format!("It is {token}.");
        let reviewed = told(&draft(&[&said[0], &said[1]]), &[&token_body]);
        assert_eq!(texts(&reviewed)[place], "It is ███.");
    }
    let lines: Vec<String> = (1..60).map(|seed| made(seed, BASE64, 64)).collect();
    let cut =
        ["githubAppPrivateKey  -----BEGIN RSA PRIV", "ATE KEY-----\\n", &lines.join("\\n"), "\\n[output truncated]"]
            .concat();
    let hidden: Vec<&str> = lines.iter().map(String::as_str).collect();
    let reviewed = told(&draft(&["Go on.", &cut]), &hidden);
    assert!(texts(&reviewed)[1].ends_with("[output truncated]"));
}

/// vm0 #28474: a log was uploaded piece by piece, and each piece was masked by itself: a secret of several lines that began
/// in one and ended in the next was known to neither.
#[test]
fn a_secret_split_across_two_turns_chunks_is_still_found() {
    let lines: Vec<String> = (1..9).map(|seed| made(seed, BASE64, 64)).collect();
    let (begin, end) =
        (["-----BEGIN RSA PRIV", "ATE KEY-----"].concat(), ["-----END RSA PRIV", "ATE KEY-----"].concat());
    let whole = format!("{begin}\n{}\n{end}", lines.join("\n"));
    let hidden: Vec<&str> = lines.iter().map(String::as_str).collect();
    for cut in 1..8 {
        let head = format!("chunk 1: {begin}\n{}", lines[..cut].join("\n"));
        let tail = format!("{}\n{end}\nchunk 2", lines[cut..].join("\n"));
        // Once whole, in whatever order the pieces come.
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            let all = [whole.as_str(), head.as_str(), tail.as_str()];
            let said: Vec<&str> = order.iter().map(|i| all[*i]).collect();
            let reviewed = told(&draft(&said), &hidden);
            assert!(texts(&reviewed).iter().any(|t| t.ends_with("chunk 2")), "what is no secret stays");
        }
    }
}

/// The same incident: a token broken by the end of a line, of a quotation or of a string is one token.
#[test]
fn a_secret_split_across_the_lines_of_one_text_is_still_found() {
    let (token, token_body) = github(7);
    for wrap in ["\n", "\r\n", "\n    ", "\\\n", "\" +\n  \"", "\n> "] {
        for at in [20, 30] {
            let said = format!("echo {}{wrap}{}", &token[..at], &token[at..]);
            let reviewed = told(&draft(&["Go on.", &said]), &[]);
            let shown: String = texts(&reviewed)[1].chars().filter(char::is_ascii_alphanumeric).collect();
            hides(&format!("a text wrapped by {wrap:?} at {at}"), &shown, &[&token_body]);
        }
    }
}

/// actions/runner #291: the secret alone in base64 was masked, but not with something behind it, since its last digits and
/// its padding are others then.
#[test]
fn a_secret_in_base64_with_something_before_or_behind_it_is_covered() {
    let (token, token_body) = github(8);
    let short = ["p4ss", "Wd_9"].concat();
    let mut said = vec![format!("{token} and https://dana:{short}@forge.example/x.git")];
    let mut forms = Vec::new();
    for before in ["", "a", "ab", "user:", "x-access-token:"] {
        for behind in ["", "\n", "a", "ab", "@host", "\r\n"] {
            for secret in [&token, &short] {
                forms.push(base64(format!("{before}{secret}{behind}").as_bytes()));
            }
        }
    }
    said.extend(forms.iter().map(|form| format!("got ({form})")));
    let reviewed = told(&draft(&said.iter().map(String::as_str).collect::<Vec<_>>()), &[&token_body, &short]);
    for text in &texts(&reviewed)[1..] {
        assert_eq!(*text, "got (███)");
    }
    stopped(&reviewed, &forms, &[&token_body, &short]);
}

/// qm PR #80: needles were made for the secret as it is, in percent-encoding and in plain base64, but not in the alphabet
/// of addresses; and the rule for `--with-token` replaced its match by itself.
#[test]
fn a_secret_in_the_base64_of_addresses_is_covered() {
    // These bytes need the two digits in which the alphabets differ.
    let secret = ["Zq>>?", "~~8w??", "Kx>>~v5"].concat();
    assert!(base64url(secret.as_bytes()).contains(['-', '_']));
    let (token, token_body) = github(9);
    let mut forms = Vec::new();
    for before in ["", "a", "ab"] {
        forms.push(base64url(format!("{before}{secret}").as_bytes()));
        forms.push(base64url(format!("{before}{token}").as_bytes()));
    }
    let mut said = vec![format!("It is '{secret}'."), format!("echo {token} | gh auth login --with-token")];
    said.extend(forms.iter().map(|form| format!("got ({form})")));
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), &secret).unwrap();
    let all = draft(&said.iter().map(String::as_str).collect::<Vec<_>>());
    let reviewed = told_with(&all, decisions, &[&secret, &token_body]);
    assert_eq!(texts(&reviewed)[1], "echo ███ | gh auth login --with-token");
    for text in &texts(&reviewed)[2..] {
        assert_eq!(*text, "got (███)");
    }
    stopped(&reviewed, &forms, &[&secret, &token_body]);
}

/// fullsend #444: characters that take no room stood between those of a token; it was looked for first, and they were taken
/// out afterwards, which made it whole again.
#[test]
fn a_token_with_characters_that_take_no_room_in_it_is_found() {
    let (token, token_body) = github(10);
    for invisible in ["\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{ad}", "\u{1b}[0m"] {
        for every in [1, 3, 7] {
            let letters: Vec<String> =
                token.chars().collect::<Vec<_>>().chunks(every).map(|c| c.iter().collect()).collect();
            let hidden = letters.join(invisible);
            let said = format!("The key is {hidden}, keep it.");
            let found = scanned(&draft(&["Go on.", &said]), &Decisions::default());
            assert!(found.undecided() > 0, "{invisible:?} after every {every}");
            let reviewed = told(&draft(&["Go on.", &said]), &[&token_body]);
            let shown = texts(&reviewed)[1].replace(invisible, "");
            hides(&format!("a text without its {invisible:?}"), &shown, &[&token_body]);
            assert_eq!(texts(&reviewed)[1], "The key is ███, keep it.");
        }
    }
}

/// Gitlawb/zero PR #978: control characters were taken out before the search, which glued the word before them to the
/// token, and a token within a word was none. And PR #1013: with them counted as part of it, two tokens became one and the
/// second one stayed.
#[test]
fn a_token_behind_a_control_character_is_found_with_and_without_it() {
    let (body, other) = (made(11, ALNUM, 95), made(12, ALNUM, 95));
    let (key, second) = (format!("sk-ant-api03-{body}"), format!("sk-ant-api03-{other}"));
    for control in ["\0", "\u{1}", "\u{8}", "\u{7f}", "\u{85}", "\u{1b}[1m", "\u{1b}]0;dana@host\u{7}", "\u{200b}"] {
        for before in ["id42", "id42 ", "id42:", ""] {
            let said = format!("{before}{control}{key}{control}{second}");
            let reviewed = told(&draft(&["Go on.", &said]), &[&body, &other]);
            assert!(texts(&reviewed)[1].starts_with(before.trim_end_matches([' ', ':'])), "{control:?}");
        }
    }
}
