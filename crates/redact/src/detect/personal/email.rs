//! E-mail addresses, told from everything else that has an `@` in it.

use super::{Span, What, before, byte, joins};
use crate::{checks::listed, text::part};

/// RFC 5321 section 4.5.3.1.
const LOCAL_BYTES: usize = 64;
const DOMAIN_BYTES: usize = 253;

/// Generic top-level domains in which people and companies have addresses; those of countries have two letters.
const TOP_LEVEL: &str = "\
    academy aero africa agency app apple arpa art asia bank bayern berlin bio biz blog brussels build business \
    cafe capital care cat center church city click cloud club codes coffee com community company consulting coop \
    design dev digital directory edu education email engineering enterprises events expert finance foundation \
    fund fyi gmbh google gov group guru hamburg health host house info ink institute int international jobs \
    koeln law legal life link live london ltd media mil mobi museum name net network news ngo ninja nrw nyc \
    online org page paris partners post press pro science shop site social software solutions space store studio \
    swiss systems team tech technology tel tokyo tools travel university ventures video website wiki wien work \
    works world xyz zone";

/// Two letters that end files' names far more often than addresses.
const FILES: &str = "\
    js ts py sh md so cs hs db gz xz go";

/// First labels of domains that stand in examples.
const EXAMPLES: &str = "\
    example examples foo bar baz foobar test testing domain yourdomain mydomain somedomain anotherdomain \
    your-domain yourcompany mycompany your-company company acme email localhost yoursite mysite yourhost \
    somewhere someplace host corp";

/// Nobody's: services that are logged into by their name, and mailboxes nobody reads.
const SERVICES: &str = "\
    git hg svn aur gitlab gitea noreply no-reply donotreply do-not-reply";

/// The address whose `@` stands at `at`.
pub(super) fn around(text: &[u8], at: usize) -> Option<Span> {
    let local = text.get(..at)?.iter().rev().take(LOCAL_BYTES + 1).take_while(|b| is_local(**b)).count();
    let mut start = at - local;
    // An escape's letter is no part of the address, nor is a dot or quotation mark before it.
    if before(text, start) == Some(b'\\') && matches!(byte(text, start), Some(b'n' | b'r' | b't')) {
        start += 1;
    }
    let lead = part(text, start, at).iter().take_while(|b| !b.is_ascii_alphanumeric() && **b != b'_').count();
    start += lead;
    if start >= at
        || local > LOCAL_BYTES
        || before(text, at) == Some(b'.')
        || before(text, start).is_some_and(|b| b >= 0x80)
    {
        return None;
    }
    let end = domain_end(text, at + 1)?;
    let (name, domain) = (part(text, start, at), part(text, at + 1, end));
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let domain = String::from_utf8_lossy(domain).to_ascii_lowercase();
    let good = is_domain(&domain)
        && !is_service(&name, &domain)
        && !is_example(&name, &domain)
        && !in_url(text, start)
        // A handle of the fediverse, or a package of a scope.
        && !matches!(before(text, start), Some(b'@'));
    good.then_some(Span { what: What::Email, start, end })
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'')
}

/// The end of the dotted name that begins at `start`.
fn domain_end(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let run = rest.iter().take(DOMAIN_BYTES + 1).take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'));
    let length = run.count();
    let tail = part(rest, 0, length).iter().rev().take_while(|b| !b.is_ascii_alphanumeric()).count();
    let end = start + length - tail;
    (length <= DOMAIN_BYTES && end > start && !joins(byte(text, end))).then_some(end)
}

fn is_domain(domain: &str) -> bool {
    let mut labels = domain.rsplit('.');
    let top = labels.next().unwrap_or_default();
    let mut rest = labels.peekable();
    let country = top.len() == 2 && top.bytes().all(|b| b.is_ascii_lowercase()) && !listed(FILES, top);
    rest.peek().is_some()
        && (country || listed(TOP_LEVEL, top))
        && rest.all(|label| !label.is_empty() && label.len() <= 63 && !label.starts_with('-') && !label.ends_with('-'))
        && !is_version(domain)
}

/// `package@1.2.3-rc.io` and pictures for finer screens, `icon@2x.…`.
fn is_version(domain: &str) -> bool {
    let first = domain.split('.').next().unwrap_or_default();
    let number = first.trim_start_matches('v');
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && matches!(number.get(digits..), Some("" | "x"))
}

fn is_service(name: &str, domain: &str) -> bool {
    listed(SERVICES, name)
        || ["noreply", "no-reply", "donotreply"].iter().any(|word| name.ends_with(word))
        || domain.contains("noreply.")
        // Names of algorithms in SSH (RFC 4251 section 6).
        || matches!(domain, "openssh.com" | "libssh.org")
        // A key of a repository host: `org-1234@github.com:…`.
        || (name.starts_with("org-") && domain == "github.com")
}

fn is_example(name: &str, domain: &str) -> bool {
    let mut labels = domain.rsplit('.');
    let (top, second) = (labels.next().unwrap_or_default(), labels.next().unwrap_or_default());
    // RFC 2606 and RFC 6761 keep these free for examples.
    matches!(top, "example" | "invalid" | "test" | "localhost")
        || listed(EXAMPLES, second)
        || (second.len() == 1 && name.len() <= 3)
        || (matches!(name, "user" | "username" | "you" | "your-email" | "youremail" | "your.email" | "name" | "email")
            && matches!(second, "mail" | "gmail" | "server" | "site" | "provider" | "org"))
}

/// Whether a user name of a URL ends in `@` here: that is another matter, and often a service's.
fn in_url(text: &[u8], start: usize) -> bool {
    let back = part(text, start.saturating_sub(LOCAL_BYTES), start);
    let authority =
        back.iter().rev().take_while(|b| !b.is_ascii_whitespace() && !matches!(b, b'/' | b'"' | b'\'')).count();
    let before_authority = part(back, 0, back.len() - authority);
    before_authority.ends_with(b"://")
}
