//! Paths that say where in a project something is, and not whose machine it was.

/// The folders that paths are told by.
pub(super) struct Folders<'a> {
    cwd: Option<&'a str>,
    home: Option<&'a str>,
    /// The home folder as Claude Code spells it in the names of its project folders.
    dashed_home: Option<String>,
}

/// More than a summary can show, in bytes.
const SHOWN_BYTES: usize = 4 * super::MAX_BYTES;

/// Folders beside people's home folders that are nobody's.
const NOBODY: [&str; 6] = ["Shared", "Public", "Default", "All", ".", ".."];

impl<'a> Folders<'a> {
    pub(super) fn new(cwd: Option<&'a str>, home: Option<&'a str>) -> Self {
        let folder = |path: &'a str| {
            let path = path.trim().trim_end_matches(['/', '\\']);
            // `C:` and the like are too little to tell a folder by.
            (path.len() > 2).then_some(path)
        };
        let home = home.and_then(folder);
        let dashed_home =
            home.map(|home| home.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect());
        Self { cwd: cwd.and_then(folder), home, dashed_home }
    }

    /// `line` with every path below these folders, or below anybody's home folder, shortened.
    pub(super) fn shorten(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len().min(SHOWN_BYTES));
        let mut rest = line;
        while let Some(next) = rest.chars().next().filter(|_| out.len() < SHOWN_BYTES) {
            let found = self.may_begin(next, rest).then(|| self.at(&out, rest)).flatten();
            let taken = match found {
                Some((shown, taken)) => {
                    out.push_str(&shown);
                    taken
                }
                None => {
                    out.push(next);
                    next.len_utf8()
                }
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
        out
    }

    /// Whether a path that is to be shortened may begin here: most characters need no closer look.
    fn may_begin(&self, next: char, rest: &str) -> bool {
        let begins = |folder: Option<&str>| folder.is_some_and(|folder| folder.starts_with(next));
        matches!(next, '/' | '\\' | '-')
            || (next.is_ascii_alphabetic() && rest.as_bytes().get(1) == Some(&b':'))
            || begins(self.cwd)
            || begins(self.home)
    }

    /// What stands for the folder that `rest` begins with, and how many bytes of `rest` that replaces.
    fn at(&self, before: &str, rest: &str) -> Option<(String, usize)> {
        let starts_path = !before.ends_with(is_name_character);
        if starts_path {
            if let Some(taken) = self.cwd.and_then(|cwd| folder_prefix(rest, cwd)) {
                let separator = separator_length(rest.get(taken..)?);
                let goes_on = rest.get(taken + separator..)?.starts_with(is_name_character);
                return Some(if goes_on {
                    (String::new(), taken + separator)
                } else {
                    (".".to_owned(), taken + separator)
                });
            }
            if let Some(taken) = self.home.and_then(|home| folder_prefix(rest, home)) {
                return Some(tilde(rest, taken));
            }
        }
        if let Some(taken) = anybodys_home(rest, before.ends_with(['"', '\''])) {
            if starts_path && !before.ends_with(['/', '\\']) {
                return Some(tilde(rest, taken));
            }
            if in_web_address(before) {
                return None;
            }
            // `/var/home/x`, `file:///Users/x`: the name goes, the folders around it stay.
            if before.ends_with("//") {
                return Some(tilde(rest, taken)).map(|(shown, taken)| (format!("/{shown}"), taken));
            }
            return Some((format!("{}~", folders_above(rest)), taken));
        }
        self.dashed(before, rest)
    }

    /// `-Users-alice-code-app`: a path as the name of a folder.
    fn dashed(&self, before: &str, rest: &str) -> Option<(String, usize)> {
        if !rest.starts_with('-') || !before.ends_with(['/', '\\']) {
            return None;
        }
        if let Some(dashed) = self.dashed_home.as_deref().filter(|dashed| rest.starts_with(dashed)) {
            return Some(("-~".to_owned(), dashed.len()));
        }
        let above = ["-Users-", "-home-"].into_iter().find(|above| rest.starts_with(above))?;
        let name = rest.get(above.len()..)?;
        let length = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
        (length > 0).then(|| ("-~".to_owned(), above.len() + length))
    }
}

/// `~/` for a folder with something below it, else `~`.
fn tilde(rest: &str, taken: usize) -> (String, usize) {
    let separator = separator_length(rest.get(taken..).unwrap_or_default());
    if separator > 0 { ("~/".to_owned(), taken + separator) } else { ("~".to_owned(), taken) }
}

/// A character that continues a file's name.
fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '~' | '@' | '+')
}

/// Bytes of the separator that `text` begins with; a backslash may be doubled by quoting.
fn separator_length(text: &str) -> usize {
    if text.starts_with("\\\\") { 2 } else { usize::from(text.starts_with(['/', '\\'])) }
}

/// Bytes of `text` that spell `folder`, if it begins with it and the last name ends there.
fn folder_prefix(text: &str, folder: &str) -> Option<usize> {
    let mut at = 0;
    for wanted in folder.chars() {
        let rest = text.get(at..)?;
        if matches!(wanted, '/' | '\\') {
            match separator_length(rest) {
                0 => return None,
                length => at += length,
            }
        } else {
            let given = rest.chars().next()?;
            if given != wanted {
                return None;
            }
            at += given.len_utf8();
        }
    }
    let next = text.get(at..)?;
    let ends = !next.starts_with(is_name_character)
        || (next.starts_with('.') && !next.get(1..)?.starts_with(is_name_character));
    ends.then_some(at)
}

/// Bytes of `text` that spell somebody's home folder, if it begins with one. `quoted`: a quotation begins here.
fn anybodys_home(text: &str, quoted: bool) -> Option<usize> {
    if let Some(rest) = text.strip_prefix("/root") {
        return (!rest.starts_with(is_name_character)).then_some("/root".len());
    }
    let above = folders_above(text).len();
    if above == 0 {
        return None;
    }
    let name = text.get(above..)?;
    // Only Windows has names with spaces, and there a folder follows. What a Unix shell takes must be quoted.
    let has_drive = text.get(1..).is_some_and(|rest| rest.starts_with(':'));
    let is_windows = has_drive || (quoted && above > "/Users/".len());
    let spaced = name
        .find(|c: char| !(is_name_character(c) || c == ' '))
        .filter(|end| is_windows && separator_length(name.get(*end..).unwrap_or_default()) > 0);
    let length = spaced.unwrap_or_else(|| {
        name.find(|c: char| !(is_name_character(c) || matches!(c, '$' | '{' | '}' | '%'))).unwrap_or(name.len())
    });
    let user = name.get(..length)?;
    (!user.is_empty() && !NOBODY.contains(&user)).then_some(above + length)
}

/// The part of `text` that leads to a home folder, up to its owner's name: `/home/`, `C:\Users\`.
fn folders_above(text: &str) -> &str {
    let mut at = 0;
    let bytes = text.as_bytes();
    if let [drive, b':', ..] = bytes
        && drive.is_ascii_alphabetic()
    {
        at = 2;
    } else if let [b'/', drive, b'/', ..] = bytes
        && drive.is_ascii_alphabetic()
    {
        // Git Bash and the like: /c/Users/…
        at = 2;
    } else if let Some(rest) = text.strip_prefix("/mnt/")
        && let [drive, b'/', ..] = rest.as_bytes()
        && drive.is_ascii_alphabetic()
    {
        at = "/mnt/".len() + 1;
    }
    let rest = text.get(at..).unwrap_or_default();
    let first = separator_length(rest);
    let Some(name) = rest.get(first..).filter(|_| first > 0) else { return "" };
    let length = if name
        .get(..5)
        .is_some_and(|users| if at > 0 { users.eq_ignore_ascii_case("users") } else { users == "Users" })
    {
        5
    } else if at == 0 && name.starts_with("home") {
        4
    } else {
        return "";
    };
    match separator_length(name.get(length..).unwrap_or_default()) {
        0 => "",
        second => text.get(..at + first + length + second).unwrap_or_default(),
    }
}

/// Whether the word that `before` ends with is a web address: its path is not on anybody's disk.
fn in_web_address(before: &str) -> bool {
    let word = before.rsplit([' ', '"', '\'', '(', '=', '<']).next().unwrap_or_default();
    word.contains("://") && !word.starts_with("file:")
}
