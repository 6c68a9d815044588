//! What every store must find. Each case has a store of its own, empty.

use onrecord_index::{AccountStatus, Change, Error, Hit, Index, Kept, NameOf, Recent, Search, check};
use serde_json::{Value, json};

use super::{MESSAGE, apply, at, cases::*, delete, did, message, put, rkey, session, time};

pub async fn search_finds_words_phrases_and_filters(index: &dyn Index) {
    let d = did(1);
    apply(index, [kiln(1, 10), kiln(2, 20)].concat()).await;
    apply(
        index,
        vec![
            session(&d, 50, 60, Some("Über Café")),
            message(&d, 50, 51, 60, "assistant", "東京の窯。 The crack-free glaze", &json!({"model": "openai/gpt-5"})),
        ],
    )
    .await;
    let nothing: [onrecord_lexicon::Rkey; 0] = [];
    let keys = async |text: &str| find(index, text).await.into_iter().map(|hit| hit.address.rkey).collect::<Vec<_>>();
    assert_eq!(keys("glaze crack").await, [rkey(51), rkey(21), rkey(11)], "all words, the latest first");
    assert_eq!(keys("\"glaze crack\"").await, [rkey(21), rkey(11)]);
    assert_eq!(keys("CAFE").await, [rkey(50)]);
    assert_eq!(keys("東京").await, [rkey(51)]);
    assert_eq!(keys("京東").await, nothing);
    assert_eq!(keys("temp*").await, [rkey(22), rkey(12)], "the start of a word in a step");
    assert_eq!(keys("glaze -why").await, [rkey(51)]);
    assert_eq!(keys("\"fast bash\"").await, nothing, "no phrase reaches from the text into a step");
    let filtered = async |search: Search| {
        let hits = index.search(&search, None, 10).await.unwrap().items;
        hits.into_iter().map(|hit| hit.address.rkey).collect::<Vec<_>>()
    };
    let glaze = |search: Search| Search { text: "glaze".into(), ..search };
    let any = Search::default;
    assert_eq!(filtered(glaze(Search { author: Some(did(2)), ..any() })).await, [rkey(21)]);
    assert_eq!(filtered(Search { model: Some("OpenAI/gpt-5".into()), ..any() }).await, [rkey(51)]);
    assert_eq!(filtered(Search { model: Some("claude-opus-4-5".into()), ..any() }).await, [rkey(22), rkey(12)]);
    assert_eq!(filtered(Search { tool: Some("bash".into()), author: Some(d.clone()), ..any() }).await, [rkey(12)]);
    assert_eq!(filtered(Search { failed: true, ..any() }).await, [rkey(22), rkey(12)]);
    let ms = |n: i64| super::START_MS + n * 1000;
    assert_eq!(filtered(glaze(Search { after_ms: Some(ms(21)), before_ms: Some(ms(51)), ..any() })).await, [rkey(21)]);
    assert_eq!(filtered(Search { after_ms: Some(ms(50)), ..any() }).await, [rkey(51), rkey(50)]);
    assert!(matches!(index.search(&any(), None, 10).await, Err(Error::EmptyQuery)));
    // What is shown of a hit.
    let hit = &find(index, "temperature").await[1];
    let snippet = hit.snippet.as_ref().unwrap();
    assert_eq!(
        snippet.parts.iter().map(|p| (p.text.as_str(), p.found)).collect::<Vec<_>>(),
        [("measure the ", false), ("temperature", true)]
    );
    assert_eq!((hit.title.as_deref(), hit.at_ms), (Some("How to fire a kiln"), ms(12)));
    let speaker = |hit: &Hit| (hit.role.clone(), hit.model.clone());
    assert_eq!(speaker(hit), (Some("assistant".into()), Some("anthropic/claude-opus-4-5".into())));
    assert_eq!(speaker(&find(index, "fire a kiln").await[0]), (None, None), "a conversation's title is nobody's word");
    // By pages.
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = index.search(&glaze(any()), cursor.as_ref(), 1).await.unwrap();
        seen.extend(page.items.into_iter().map(|hit| hit.address.rkey));
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, [rkey(51), rkey(21), rkey(11)]);
}

pub async fn backlinks_lead_to_what_points(index: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(2, 20)].concat()).await;
    let about = async |target: &str| index.search(&Search::about(target), None, 10).await.unwrap().items.len();
    assert_eq!(about("at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3k").await, 2);
    assert_eq!(about("did:plc:ewvi7nxzyoun6zhxrhs64oiz").await, 2, "who points at a record points at its account");
    assert_eq!(about(did(77).as_str()).await, 2);
    assert_eq!(about(did(78).as_str()).await, 0);
    apply(index, vec![delete(&did(1), MESSAGE, 12, 30)]).await;
    assert_eq!(about(did(77).as_str()).await, 1);
}

pub async fn models_and_tools_are_counted(index: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(1, 20), kiln(2, 20)].concat()).await;
    let tools = index.names(NameOf::Tool, 10).await.unwrap();
    let tools: Vec<_> = tools.iter().map(|t| (t.name.as_str(), t.count, t.conversations)).collect();
    assert_eq!(tools, [("Bash", 6, 3), ("Read", 3, 3)]);
    assert_eq!(index.names(NameOf::Model, 1).await.unwrap()[0].count, 3);
    assert!(check(index).await.unwrap().faults.is_empty());
}

pub async fn other_agents_records_are_found(index: &dyn Index) {
    let d = did(1);
    let thought = json!({"$type": "network.comind.thought", "thought": "A kiln is an oven", "createdAt": time(5), "about": did(77).as_str(), "nested": {"more": ["of the same"]}});
    apply(index, vec![put(&d, "network.comind.thought", &rkey(5), 5, &thought)]).await;
    let hits = find(index, "\"of the same\" oven").await;
    assert_eq!((hits.len(), hits[0].conversation.clone()), (1, None));
    assert_eq!(index.search(&Search::about(did(77).as_str()), None, 10).await.unwrap().items.len(), 1);
    assert!(index.recent(&Recent::All, None, 10).await.unwrap().items.is_empty());
    assert!(matches!(index.record(&hits[0].address).await.unwrap(), Kept::Here(_)));
}

pub async fn tiles_snapshots_are_conversations(index: &dyn Index) {
    let (d, collection) = (did(1), "run.tiles.chat.sessionSnapshot");
    let ms = |n: i64| super::START_MS + n * 1000;
    let message = |role: &str, n: i64, content: Value| json!({"role": role, "timestamp": ms(n), "content": content});
    let public = json!({"$type": collection, "name": "Ovens", "sessionId": "s1", "createdAt": time(9), "turns": [
        {"api": "open-responses", "provider": "tiles", "model": "gpt-oss", "messages": [
            message("user", 1, json!([{"type": "text", "text": "Which clay for an oven?"}])),
            message("assistant", 2, json!([{"type": "thinking", "thinking": "unheard"}, {"type": "toolCall", "name": "look_up", "arguments": "{}"}])),
            message("assistant", 3, json!([{"type": "text", "text": "Fireclay."}])),
        ]},
        {"provider": "tiles", "model": "gpt-oss", "messages": [message("user", 4, json!([{"type": "withheld"}]))]},
    ]});
    let private = json!({"enc_content": "AAAA"});
    let legacy = json!({"$type": "run.tiles.session", "session_id": "s0", "name": "Older", "created_at": time(3), "models_used": ["gpt-oss"],
        "contents": [{"role": "user", "content": "glazed bricks?"}, {"role": "assistant", "content": "Salt-glazed."}]});
    let applied = apply(
        index,
        vec![
            put(&d, collection, &rkey(10), 20, &public),
            put(&d, collection, &rkey(11), 20, &private),
            put(&d, "run.tiles.session", &rkey(12), 20, &legacy),
        ],
    )
    .await;
    assert_eq!((applied.stored, applied.rejected), (3, 0));
    let heads = index.recent(&Recent::All, None, 10).await.unwrap().items;
    let titles: Vec<_> = heads.iter().map(|head| head.title.as_deref().unwrap()).collect();
    assert_eq!(titles, ["Older", "Ovens"], "an encrypted one is on no list");
    assert_eq!((heads[1].turns, heads[1].withheld, heads[1].steps), (3, 1, 1));
    assert_eq!(found(index, "unheard").await, 0, "reasoning is not searched");
    let hit = find(index, "fireclay").await.remove(0);
    assert_eq!(hit.snippet.unwrap().parts[0].text, "Fireclay");
    assert_eq!(find(index, "salt glazed").await[0].title.as_deref(), Some("Older"));
    let search = Search { harness: Some("Tiles".into()), ..Search::default() };
    assert_eq!(index.search(&search, None, 10).await.unwrap().items.len(), 3);
    let search = Search { tool: Some("look_up".into()), model: Some("gpt-oss".into()), ..Search::default() };
    assert_eq!(index.search(&search, None, 10).await.unwrap().items.len(), 1);
    let conversation = here(index.conversation(&hit.address, None, 10).await.unwrap());
    assert!(conversation.turns.items.is_empty() && conversation.record.record.get().contains("Which clay"));
    assert!(matches!(index.record(&at(&d, collection, &rkey(11))).await.unwrap(), Kept::Here(_)));
    apply(index, vec![delete(&d, collection, 10, 30)]).await;
    assert_eq!(
        (found(index, "oven").await, index.conversation(&hit.address, None, 10).await.unwrap()),
        (0, Kept::Gone)
    );
    // A turn of another family stands for itself.
    let shared = json!({"$type": "network.sharedcomputer.chat.message", "role": "assistant", "createdAt": time(5),
        "model": {"provider": "openai", "id": "gpt-5"},
        "content": {"$type": "network.sharedcomputer.chat.defs#plainContent", "parts": [
            {"$type": "network.sharedcomputer.chat.defs#reasoningPart", "text": "unheard"},
            {"$type": "network.sharedcomputer.chat.defs#textPart", "text": "Use a pyrometric cone."}]}});
    assert_eq!(
        apply(index, vec![put(&d, "network.sharedcomputer.chat.message", &rkey(5), 30, &shared)]).await.stored,
        1
    );
    assert_eq!((found(index, "pyrometric").await, found(index, "unheard").await), (1, 0));
    assert_eq!(find(index, "pyrometric").await[0].model.as_deref(), Some("openai/gpt-5"));
}

pub async fn a_common_word_is_found_newest_first(index: &dyn Index) {
    let turns = 4_500;
    for n in [1, 2] {
        let d = did(n);
        let told = (0..turns / 2).map(|turn| {
            message(
                &d,
                1,
                10 + 2 * turn + n as u64,
                90_000,
                "user",
                if turn % 2 == 0 { "clay" } else { "clay bricks" },
                &none(),
            )
        });
        apply(index, told.chain([session(&d, 1, 90_000, None)]).collect()).await;
    }
    let newest: Vec<_> = (0..turns).rev().map(|turn| rkey(11 + turn)).collect();
    let (mut seen, mut cursor) = (Vec::new(), None);
    let search = Search { text: "clay".into(), ..Search::default() };
    for _ in 0..20 {
        let page = index.search(&search, cursor.as_ref(), 100).await.unwrap();
        seen.extend(page.items.into_iter().map(|hit| hit.address.rkey));
        cursor = page.cursor;
    }
    assert!(cursor.is_some());
    assert_eq!(seen, newest[..2_000]);
    // Those of a hidden account are passed over, however many there are.
    apply(index, vec![Change::Account { did: did(2), status: AccountStatus::Takendown, at_ms: 1 }]).await;
    for text in ["clay", "bricks"] {
        let search = Search { text: text.into(), ..Search::default() };
        let page = index.search(&search, None, 10).await.unwrap();
        assert!(page.items.len() == 10 && page.items.iter().all(|hit| hit.address.did == did(1)), "{text}");
    }
}

/// Neither the newest records nor the inverted index alone tell where the words stand together.
pub async fn a_rare_phrase_of_common_words_is_found(index: &dyn Index) {
    let d = did(1);
    let say = |n: u64, text: &str| message(&d, 1, 10 + n, 90_000, "user", text, &none());
    let mut told = vec![session(&d, 1, 90_000, None)];
    told.extend((0..1_500).map(|n| say(n, if n % 500 == 7 { "wet red clay" } else { "red and wet clay" })));
    // Of words that are on few, and on none of the newest.
    told.extend([say(1_500, "salt glaze"), say(1_501, "glaze, then salt"), say(1_502, "salt glaze again")]);
    told.extend((1_503..2_600).map(|n| say(n, "wet and red")));
    for some in told.chunks(500) {
        apply(index, some.to_vec()).await;
    }
    let found = async |text: &str, limit| {
        let search = Search { text: text.into(), ..Search::default() };
        let (mut keys, mut cursor) = (Vec::new(), None);
        loop {
            let page = index.search(&search, cursor.as_ref(), limit).await.unwrap();
            keys.extend(page.items.into_iter().map(|hit| hit.address.rkey));
            cursor = page.cursor;
            if cursor.is_none() {
                return keys;
            }
        }
    };
    for limit in [2, 10] {
        assert_eq!(found("\"wet red\"", limit).await, [1_007, 507, 7].map(|n| rkey(10 + n)));
        assert_eq!(found("\"salt glaze\"", limit).await, [1_502, 1_500].map(|n| rkey(10 + n)));
        assert_eq!(found("glaze -\"salt glaze\"", limit).await, [rkey(1_511)]);
        assert_eq!(found("clay -\"and wet\"", limit).await, [1_007, 507, 7].map(|n| rkey(10 + n)));
    }
}

/// What an inverted index cannot hold of a record does not keep the record out, nor what it can be filtered by.
pub async fn a_record_of_nothing_but_different_words_is_kept(index: &dyn Index) {
    let (d, collection) = (did(1), "run.tiles.chat.sessionSnapshot");
    let mut text = String::from("first");
    for n in 0..100_000 {
        text.push_str(&format!(" w{n}x"));
    }
    let message =
        json!({"role": "assistant", "timestamp": super::START_MS, "content": [{"type": "text", "text": text}]});
    let record = json!({"$type": collection, "name": "Words", "sessionId": "s1", "createdAt": time(9),
        "turns": [{"provider": "tiles", "model": "gpt-oss", "messages": [message]}]});
    let applied =
        apply(index, vec![put(&d, collection, &rkey(10), 20, &record), session(&d, 1, 30, Some("Next"))]).await;
    assert_eq!((applied.stored, applied.rejected), (2, 0));
    for search in [
        Search { text: "first".into(), ..Search::default() },
        Search { text: "w10x".into(), ..Search::default() },
        Search { model: Some("gpt-oss".into()), ..Search::default() },
    ] {
        assert_eq!(index.search(&search, None, 10).await.unwrap().items.len(), 1, "{search:?}");
    }
    let applied = apply(index, vec![delete(&d, collection, 10, 40)]).await;
    assert_eq!(applied.removed, 1);
    let search = Search { text: "first".into(), ..Search::default() };
    assert!(index.search(&search, None, 10).await.unwrap().items.is_empty());
}
