//! Words that stand for the same thing in the schemas of applications. A word can stand for several things.

use std::{collections::HashMap, sync::OnceLock};

use super::words::stem;

/// The thing, and words for it.
const CONCEPTS: &[(&str, &str)] = &[
    (
        "conversation",
        "conversation chat dialog dialogue thread discussion session transcript talk channel room dm inbox",
    ),
    ("message", "message msg turn utterance reply dm text speaker sender recipient inbox direct"),
    ("agent", "agent assistant bot ai llm model prompt completion automated autonomous machine generative inference"),
    ("tool call", "tool function invocation step action command arguments"),
    ("memory", "memory recall remember knowledge fact concept belief journal learning insight"),
    ("thought", "thought reasoning thinking reflection hypothesis claim observation inference idea"),
    ("post", "post status microblog toot tweet skeet feed timeline"),
    ("article", "article blog essay document page entry publication newsletter story chapter draft longform markdown"),
    ("note", "note memo snippet jotting annotation highlight notebook"),
    ("comment", "comment remark reply response feedback annotation"),
    ("like", "like favorite favourite reaction heart upvote emoji react applause kudos"),
    ("share", "share repost boost reblog retweet forward"),
    ("follow", "follow subscribe subscription subscriber follower watch following"),
    ("block", "block mute ban hide silence moderation report label flag"),
    ("account", "account user actor person member profile owner identity"),
    ("author", "author creator writer contributor maintainer byline publisher"),
    ("profile", "profile bio avatar banner displayname pronoun about"),
    ("membership", "member membership role roster admit invite vouch belong"),
    ("group", "group community team club organization organisation guild collective circle forum"),
    ("event", "event meetup meeting calendar gathering appointment schedule conference occasion venue"),
    ("attendance", "rsvp attend attendee attendance participant participation going ticket guest"),
    ("place", "place location venue address geo position spot coordinate latitude longitude checkin map region city"),
    ("travel", "travel trip journey itinerary flight hotel route destination"),
    ("image", "image photo picture photograph gallery snapshot camera aspect thumbnail album exif"),
    ("video", "video clip movie film footage stream livestream broadcast"),
    ("music", "music song track listen scrobble album artist playlist play band"),
    ("audio", "audio sound podcast episode voice recording"),
    ("book", "book isbn library novel reading read shelf author edition page"),
    ("film", "film movie show series season watch watched cinema tv episode"),
    ("review", "review rating rate star score critique opinion verdict"),
    ("recipe", "recipe cook cooking dish meal ingredient food cuisine bake kitchen serving"),
    ("task", "task todo issue ticket checklist done due assign priority backlog milestone"),
    ("code", "code repository repo commit git branch source snippet gist pull merge programming"),
    ("package", "package release version dependency library module registry changelog"),
    ("file", "file attachment upload folder storage blob download"),
    ("bookmark", "bookmark link url website save saved pin readlater favicon"),
    ("tag", "tag category topic keyword hashtag taxonomy facet"),
    ("list", "list collection set board curated bundle starter"),
    ("game", "game match player move chess win lose level achievement"),
    ("money", "payment price cost tip donation money invoice amount currency purchase order pay sponsor"),
    ("shop", "product item listing goods shop sale sell seller buyer stock market offer"),
    ("job", "job vacancy hiring employment career resume employer salary applicant"),
    ("exercise", "workout exercise run running fitness training distance pace heart ride cycling"),
    ("health", "health symptom medication sleep mood weight blood patient dose"),
    ("measurement", "measurement sensor temperature metric reading humidity weather observation station"),
    ("poll", "poll survey vote ballot question quiz choice answer option election"),
    ("question", "question ask answer answered faq quiz"),
    ("search", "search query find lookup semantic similar match"),
    ("statistics", "statistic stats count total metric usage breakdown index"),
    ("time", "time date timestamp moment datetime day hour duration start end"),
    ("language", "language translation locale translate lang word vocabulary"),
    ("education", "course lesson student teacher class flashcard deck learn study school homework"),
    ("plant", "plant garden species seed crop bird animal wildlife sighting nature"),
    ("art", "art drawing illustration painting canvas sketch artwork design font palette"),
    (
        "transparency",
        "transparency disclosure disclose accountable accountability responsible declaration declare operator autonomy",
    ),
    ("permission", "permission grant scope access authorize allow consent"),
    ("encryption", "encrypt encrypted encryption cipher ciphertext nonce key seal sealed secret"),
    ("preference", "preference setting configuration option theme default"),
    ("notification", "notification alert notify reminder digest unread"),
    ("schema", "lexicon schema definition nsid validate format"),
];

/// What `word`, a stem, stands for, with the share of each.
pub(super) fn of(word: &str) -> impl Iterator<Item = (&'static str, f32)> {
    static BY_WORD: OnceLock<HashMap<String, Vec<&'static str>>> = OnceLock::new();
    let by_word = BY_WORD.get_or_init(|| {
        let mut by_word: HashMap<String, Vec<&'static str>> = HashMap::new();
        for (concept, words) in CONCEPTS {
            for word in words.split(' ') {
                let concepts = by_word.entry(stem(word)).or_default();
                if !concepts.contains(concept) {
                    concepts.push(concept);
                }
            }
        }
        by_word
    });
    let concepts = by_word.get(word).map(Vec::as_slice).unwrap_or_default();
    let share = 1.0 / f32::from(u16::try_from(concepts.len().max(1)).unwrap_or(u16::MAX));
    concepts.iter().map(move |concept| (*concept, share))
}
