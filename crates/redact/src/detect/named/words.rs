//! Lists of words: those that stand where a secret would, and those that names are made of.

use std::{collections::HashSet, sync::OnceLock};

use aho_corasick::AhoCorasick;

use crate::text::part;

/// Strings that are looked for in one pass.
pub(super) struct Marks {
    marks: &'static [&'static str],
    finder: OnceLock<Option<AhoCorasick>>,
}

impl Marks {
    pub(super) const fn new(marks: &'static [&'static str]) -> Self {
        Self { marks, finder: OnceLock::new() }
    }

    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        // Without a finder nothing is passed over: more is found, not less.
        self.finder.get_or_init(|| AhoCorasick::new(self.marks).ok()).as_ref().is_some_and(|f| f.is_match(bytes))
    }
}

/// Words in small letters, read when they are first asked for.
pub(super) struct List {
    words: &'static str,
    set: OnceLock<HashSet<&'static [u8]>>,
}

impl List {
    pub(super) const fn new(words: &'static str) -> Self {
        Self { words, set: OnceLock::new() }
    }

    pub(super) fn has(&self, word: &[u8]) -> bool {
        self.set.get_or_init(|| self.words.split_ascii_whitespace().map(str::as_bytes).collect()).contains(word)
    }

    /// Whatever the case of its ASCII letters; no word is longer than 24 bytes.
    pub(super) fn has_folded(&self, word: &[u8]) -> bool {
        let mut folded = [0_u8; 24];
        for (to, from) in folded.iter_mut().zip(word) {
            *to = from.to_ascii_lowercase();
        }
        word.len() <= folded.len() && self.has(part(&folded, 0, word.len()))
    }
}

/// What people write for a secret in examples, and what code has there.
static HARMLESS: List = List::new(
    "a abc absolute access account admin administrator alice an and any api apikey app application array auth \
     authenticate authentication authorization backend bar base basic battery baz bearer bob bool boolean bot \
     bytearray bytes bytestring ca cat certificate change changed changeit changeme char clave client cluster code \
     config confirm contrasena correct credential credentialed credentials current customer data database date db \
     debug default demo description details dev development disable disabled django docker doe domain dummy edit \
     elastic email empty enable enabled encoded encrypted enter env environ environment environment_variable error \
     example expired failed failure fake false field file filled firstname foo foobar for form from generate \
     generated get given goes grafana guess guest hash hashed haslo header hello here hidden hint horse hunter id \
     identifier in incorrect inherit inline input insecure insert int integer integrated interactive invalid \
     invalidpassword is it item jane john jwt keep kennwort key keychain keyring keys label lastname letmein link \
     live loading local localhost login logout long machine mail managed manual master me minio missing mock mongo \
     mongodb motdepasse my mypassword mysql name new next nginx nil no node nonce none not null number object of ok \
     old on option optional or oracle org origin original other our outlined param parameter parola pass passcode \
     passphrase passwd password passwords passwort pending placeholder plain plaintext port postgres postgresql \
     prefix private prod production profile project prompt protected provide provided proxy public pw pwd query qux \
     qwerty rabbitmq random raw read readonly redacted redis redux registry relative remote remove removed repeat \
     replace request required required_if reset restricted root same sample save secret secrets secretsecret secure \
     security select sending senha server service session set setting shared show show_password sign signing simple \
     site some something stage staging standard staple static status storage store str string strong stub submit \
     success suffix super supersecret swordfish system temp temporary test tester testing tests text that the this \
     time tmp to todo token tokens top trivial true type undefined unknown unset unused update url use user username \
     users uuid valid validate value values var variable vault verify visibility visible wachtwoord wallet warning \
     weak web webhook when with word world write wrong xxx xxxx xyz yes you your zzz",
);

/// Words of sentences and labels, none of which a wallet's list has.
static OF_SENTENCES: List = List::new(
    "and are been but can could das der des die does ein eine enter est for from had has have her his into its key \
     las les los may must not one our password passphrase please por pour sie she should the their them then these \
     they those una une und use was were when where which will with without would you your zur",
);

/// Formats, algorithms and products whose names end in a number.
static FORMATS: List = List::new(
    "aes ansi argon ascii base bcrypt blake boost bytes char chacha chapter column commit cp curve day ed ecma \
     example figure float gpt h hmac hs http int ipv iso issue item keccak latin level libsodium line log md murmur \
     neo note number oauth option page part pbkdf phase pkcs poly port python rfc ripemd rsa scrypt secp section sha \
     slot stage step table test text tls uint user utf uuid version web win windows x xxhash year room release build \
     client server node key token secret password pass pw value arg param foo bar",
);

/// What makes a key a secret one.
pub(super) static SECRET_KEYS: List = List::new(
    "access account admin aes anthropic api app application auth authentication authorization bot cipher consumer \
     cookie crypto decryption deploy des dev developer enc encrypt encryption function hmac ingest ingestion \
     integration jwt live mailgun management master openai personal preshared priv private restricted sas secret \
     security sendgrid server service session shared sign signature signing ssh storage stripe subscription wallet \
     webhook write xapi",
);

/// What makes a token a secret one.
pub(super) static SECRET_TOKENS: List = List::new(
    "access account admin agent airtable api app application auth authentication authorization bearer bot cargo ci \
     cloudflare codecov consul dapi databricks deploy device digitalocean discord docker figma fly gh github gitlab \
     heroku hf id identity invite join jwt k8s kube linode login mapbox master netlify nomad notion npm oauth \
     personal private publish pypi read refresh registry reset root rubygems runner sas secret security sentry \
     service session shopify slack snyk sonar sso telegram twilio upload user vault vercel verification webhook \
     write x xoauth",
);

/// Words before `key` and `token` that name nobody's service: of data, of programs, of sentences.
pub(super) static WHOSE_NOT: List = List::new(
    "a active all an and any array as asset at attr attribute base batch be big block body bucket build bundle byte \
     chain change channel check child class click client cluster code col collection column comm commit compare \
     composite config contract correct csr current custom data date decoded default dest destination different \
     doc document domain dup duplicate edge element empty encoded entity entry enum env error esc exact existing \
     expected extra fake field file filter final fixed for found from full game get given good grant graph grid has \
     header hex history if image import in inner instance int internal invalid is its job join kem key known \
     kv layer leaf left len line link literal load long lookup main manifest merge message meta metadata missing \
     model module my name namespace new no node not null number numeric obj object of offset old on one only \
     operator option or order orig original other our out outer owner pair parent partial party path peer pem perm \
     pivot pk point position prev previous primary prime proof prop property pub public range raw rec ref region \
     remote remove result return right root row rsa same schema scope search second section seed select selection \
     self set shard shared short single slot source spec src starting state static step str struct sub subject \
     suffix symbol table tag target task temp template test text that the their this time title tmp to tracking \
     transient type ui unknown upload url use user valid value var version view when which widget with word wrong \
     x y your",
);

/// Words after the noun that tell which secret it is, not something about it.
pub(super) static WHICH: List = List::new(
    "admin again app backup base clear confirm confirmation current database db de default dev development en env \
     hex is key live local main new old plain plaintext prev previous primary prod production raw repeat root \
     sandbox secondary stage staging str string test testing text token user val value",
);

/// Words after the noun that make the name one about the secret.
pub(super) static ABOUT: List = List::new(
    "alg algorithm arn checksum cid count did digest dir error expiration expires expiry field file fingerprint \
     format hash header hint id ids label len length lifetime limit max message min name names path pattern policy \
     prefix ref regex rotation seconds sha size suffix ttl type uri url uuid version",
);

/// Words that make any name one of something else.
pub(super) static OTHER: List = List::new(
    "checksum count csrf digest error errors fingerprint hash hashed hint i18n integrity intl label labels locale \
     max message messages min num pattern placeholder pub public publishable regex title translations socket xsrf",
);

/// Words that make a weak name (`token`, `… key`) one of something else.
pub(super) static OTHER_WHEN_WEAK: List = List::new(
    "anon arrow bos by cache cached cancel cancellation cid color comment completion continuation css cursor dedup \
     dedupe design dict did each end eos etag event first foreign group hashkey host hot idempotency index input \
     item json keyword kid known lang last lex lexer list lock map maps mask multibase next node nonce object output \
     pad page pagination param parse parser partition peek peer primary prompt query react reasoning recaptcha \
     record registry release resume rkey rotation routing row sep sha shortcut site snapshot sort special start stop \
     store string sync syntax theme this total translation tree turnstile unique unk verify verifying",
);

/// Whether it is made of nothing but words that stand for a secret.
pub(super) fn is_harmless(letters: &[u8]) -> bool {
    letters.is_empty() || {
        let folded = letters.to_ascii_lowercase();
        is_made_of_vocabulary(&folded) || ends_as_state(&folded)
    }
}

/// Adjectives of code: `encrypted`, `forgotten`, `unreadable`.
fn ends_as_state(word: &[u8]) -> bool {
    [&b"ed"[..], b"ing", b"able", b"ible", b"tion", b"ly", b"password", b"secret", b"token", b"key"]
        .iter()
        .any(|tail| word.ends_with(tail))
}

/// Cuts the letters into words of the vocabulary, whatever way it goes.
fn is_made_of_vocabulary(letters: &[u8]) -> bool {
    const LONGEST: usize = 48;
    if letters.len() > LONGEST {
        return false;
    }
    let mut reached = [false; LONGEST + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for end in 1..=letters.len() {
        let hit = (end.saturating_sub(16)..end).any(|start| {
            reached.get(start).copied().unwrap_or_default() && letters.get(start..end).is_some_and(|w| HARMLESS.has(w))
        });
        if let Some(flag) = reached.get_mut(end) {
            *flag = hit;
        }
    }
    reached.get(letters.len()).copied().unwrap_or_default()
}

pub(super) fn is_of_sentence(word: &[u8]) -> bool {
    OF_SENTENCES.has_folded(word)
}

/// `sha256`, `base64`, `UTF-8`, `x86_64`: letters that name a format, then digits.
pub(super) fn is_format(value: &[u8]) -> bool {
    let letters = value.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let (word, rest) = value.split_at_checked(letters).unwrap_or((value, b""));
    let number = rest.iter().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.'));
    (number && FORMATS.has_folded(word))
        || (rest.first().is_some_and(u8::is_ascii_digit)
            && rest.iter().any(u8::is_ascii_alphabetic)
            && FORMATS.has_folded(word)
            && rest.len() < 12)
}

/// Parts of what people write where the real value goes.
static EXAMPLES: Marks = Marks::new(&[
    "example",
    "placeholder",
    "redacted",
    "changeme",
    "change-me",
    "change_me",
    "your-",
    "your_",
    "yourp",
    "yours",
    "yourt",
    "youra",
    "dummy",
    "insert",
    "replace",
    "todo",
    "xxxx",
    "fixme",
    "sample",
    "mock",
    "foobar",
]);

/// Whether it says that it is an example.
pub(super) fn is_example(value: &[u8]) -> bool {
    EXAMPLES.is_in(&value.to_ascii_lowercase())
}

/// Whether people write this where the real value goes.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let folded = value.to_ascii_lowercase();
    // One character again and again.
    let mut seen = [false; 256];
    for byte in value {
        if let Some(flag) = seen.get_mut(usize::from(*byte)) {
            *flag = true;
        }
    }
    if seen.iter().filter(|s| **s).count() <= 3.min(value.len() / 3) {
        return true;
    }
    if has_all_classes(value) {
        return false;
    }
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let mut any = false;
    let only = folded.split(|b| !b.is_ascii_alphabetic()).filter(|w| !w.is_empty()).all(|word| {
        any = true;
        is_made_of_vocabulary(word)
    });
    (any && only && (digits <= 4 || is_counted(value))) || is_counted_whole(&folded)
}

/// `12345678`, `abcdefgh`, `0123456789abcdef`: nothing but counting.
fn is_counted_whole(value: &[u8]) -> bool {
    let steps = value.windows(2).filter(|w| matches!(w, [a, b] if b.wrapping_sub(*a) == 1 || a == b)).count();
    value.len() >= 4 && steps * 4 >= (value.len() - 1) * 3
}

fn is_counted(value: &[u8]) -> bool {
    let digits: Vec<u8> = value.iter().copied().filter(u8::is_ascii_digit).collect();
    digits.windows(2).all(|w| matches!(w, [a, b] if b.wrapping_sub(*a) == 1 || a == b || (*a == b'9' && *b == b'0')))
}

/// Small letters, capitals, digits and signs: what rules for passwords ask of people, and examples seldom have.
pub(super) fn has_all_classes(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && value.iter().any(|b| b.is_ascii_punctuation() && !matches!(b, b'_' | b'-' | b'.' | b'/' | b':'))
}
