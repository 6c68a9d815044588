use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use super::export;
use crate::{
    Error, Standing,
    view::tests::{held_back, published, said},
};

#[test]
fn every_file_is_there_and_every_link_between_them_leads_to_one() {
    let many = (0..201).map(|i| said("user", &format!("05:{:02}:{:02}", i / 60, i % 60), "x")).collect();
    let files: BTreeMap<PathBuf, String> = export(&[published(many)], Standing::Preview)
        .unwrap()
        .into_iter()
        .map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap()))
        .collect();
    for name in [
        "index.html",
        "style.css",
        "3mf2k5aaaaa22.html",
        "3mf2k5aaaaa22.p2.html",
        "3mf2k5aaaaa22.json",
        "3mf2k5aaaaa22.md",
        "3mf2k5aaaaa22.txt",
        "records/click.aligned.chat.session/3mf2k5aaaaa22.json",
    ] {
        assert!(files.contains_key(&PathBuf::from(name)), "{name}");
    }
    assert_eq!(files.keys().filter(|p| p.starts_with("records/click.aligned.chat.message")).count(), 201);
    for (path, html) in files.iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "html")) {
        let links: BTreeSet<&str> = html.split("href=\"").skip(1).map(|s| s.split('"').next().unwrap()).collect();
        for link in links {
            let file = link.split('#').next().unwrap();
            let outside = file.is_empty()
                || file.starts_with("at://")
                || file.starts_with("data:")
                || file.starts_with("https://");
            assert!(outside || files.contains_key(&PathBuf::from(file)), "{link} in {}", path.display());
        }
    }
}

#[test]
fn records_are_exactly_what_would_be_written() {
    let conversation = published(vec![held_back("user", "05:06:00")]);
    let files = export(&[conversation], Standing::Preview).unwrap();
    let (_, bytes) = files.iter().find(|(path, _)| path.starts_with("records/click.aligned.chat.message")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!(
        record,
        serde_json::json!({
            "$type": "click.aligned.chat.message",
            "session": "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/click.aligned.chat.session/3mf2k5aaaaa22",
            "role": "user", "withheld": true, "text": "", "createdAt": "2026-03-04T05:06:00Z",
        })
    );
}

#[test]
fn two_conversations_under_one_key_are_refused() {
    let twice = [published(vec![]), published(vec![])];
    assert!(matches!(export(&twice, Standing::Preview), Err(Error::SameKey { .. })));
}

#[test]
fn nothing_to_export_is_an_empty_list() {
    let files = export(&[], Standing::Preview).unwrap();
    assert_eq!(files.len(), 2);
}
