//! Who the person is, from what this machine says of them. Pure: what is read stands in the arguments.

use onrecord_redact::Person;

/// What the machine says of the person.
#[derive(Debug, Default)]
pub struct PersonSources {
    /// Names they may log in with.
    pub user_names: Vec<String>,
    /// Names of the machine.
    pub host_names: Vec<String>,
    /// Home folders.
    pub homes: Vec<String>,
    /// The texts of configuration files of git.
    pub git_configs: Vec<String>,
}

/// What is known of the person; what is said twice is kept once.
#[must_use]
pub fn person(sources: &PersonSources) -> Person {
    let mut person = Person::default();
    for text in &sources.git_configs {
        git_user(text, &mut person);
    }
    add_all(&mut person.user_names, &sources.user_names);
    add_all(&mut person.host_names, &sources.host_names);
    add_all(&mut person.homes, &sources.homes);
    person
}

fn add_all(to: &mut Vec<String>, values: &[String]) {
    values.iter().for_each(|value| add(to, value));
}

fn add(to: &mut Vec<String>, value: &str) {
    let value = value.trim();
    if !value.is_empty() && !to.iter().any(|known| known == value) {
        to.push(value.to_owned());
    }
}

/// Takes names and addresses of a git configuration (git-config, "Syntax"): those of the user, and of author and committer
/// where they are set apart. Everything else in it is left alone, other files it includes too.
fn git_user(text: &str, person: &mut Person) {
    let mut of_person = false;
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start();
        if let Some(section) = line.strip_prefix('[') {
            let (name, rest) = section.split_once(']').unwrap_or((section, ""));
            of_person = ["user", "author", "committer"].iter().any(|known| name.trim().eq_ignore_ascii_case(known));
            line = rest.trim_start();
        }
        let Some((key, value)) = line.split_once('=').filter(|_| of_person) else { continue };
        let mut joined = value.to_owned();
        while ends_in_backslash(&joined) {
            joined.pop();
            joined.push_str(lines.next().unwrap_or_default());
        }
        let list = match key.trim().to_ascii_lowercase().as_str() {
            "name" => &mut person.full_names,
            "email" => &mut person.emails,
            _ => continue,
        };
        add(list, &unquoted(&joined));
    }
}

fn ends_in_backslash(line: &str) -> bool {
    line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1
}

/// A value without quotation marks, escapes and the comment after it.
fn unquoted(value: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = value.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => out.extend(chars.next().map(|c| if matches!(c, 'n' | 't' | 'b') { ' ' } else { c })),
            '#' | ';' if !quoted => break,
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Person, PersonSources, person};

    fn of(config: &str) -> (Vec<String>, Vec<String>) {
        let Person { full_names, emails, .. } =
            person(&PersonSources { git_configs: vec![config.to_owned()], ..PersonSources::default() });
        (full_names, emails)
    }

    #[test]
    fn name_and_address_are_those_of_the_user() {
        let config =
            "[core]\n\tname = x\n[user]\n\tname = Dana Vik\n\temail = dana@nordlys.no\n[alias]\n\temail = y@z.no\n";
        assert_eq!(of(config), (vec!["Dana Vik".to_owned()], vec!["dana@nordlys.no".to_owned()]));
    }

    #[test]
    fn what_git_reads_the_same_is_read_the_same() {
        for config in [
            "[User]\nNAME=Dana Vik",
            "[user] name = Dana Vik",
            "[user]\n name = \"Dana Vik\" ; it is me",
            "[user]\n name = Dana \\\nVik",
            "[user]\r\n name = Dana Vik\r\n",
            "\u{feff}[author]\nname = Dana Vik # me",
            "[user]\nname = Dana Vik\n[committer]\nname = Dana Vik",
        ] {
            assert_eq!(of(config).0, ["Dana Vik"], "{config:?}");
        }
        assert_eq!(of("[user]\nname = \"Dana \\\"D\\\" # Vik\"").0, ["Dana \"D\" # Vik"]);
    }

    #[test]
    fn what_is_no_users_is_left_alone() {
        for config in
            ["", "[user", "[user]\nname", "[user]\nname =", "name = x", "[users]\nname = x", "[user]\nnames = \\"]
        {
            assert_eq!(of(config), (vec![], vec![]), "{config:?}");
        }
    }

    #[test]
    fn what_is_said_twice_is_kept_once() {
        let twice = vec!["dvik".to_owned(), " dvik\n".to_owned(), String::new()];
        let person =
            person(&PersonSources { user_names: twice.clone(), host_names: twice, ..PersonSources::default() });
        assert_eq!((person.user_names.len(), person.host_names.len()), (1, 1));
    }
}
