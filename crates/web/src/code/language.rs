//! What is known of languages: enough to colour them.

/// A language.
pub(super) struct Language {
    pub(super) name: &'static str,
    /// What fences call it.
    labels: &'static [&'static str],
    /// Words that mean something, in their order.
    words: &'static str,
    /// What begins a comment that ends with its line.
    pub(super) line: &'static [&'static str],
    /// What begins and ends any other comment.
    pub(super) block: Option<(&'static str, &'static str)>,
    /// What strings stand between.
    pub(super) quotes: &'static str,
    /// What strings of several lines stand between.
    pub(super) long_quotes: &'static [&'static str],
    /// A quote may stand alone, as in Rust.
    pub(super) has_lifetimes: bool,
    /// Its words are the same in capitals.
    folds: bool,
    pub(super) is_diff: bool,
}

const PLAIN: Language = Language {
    name: "",
    labels: &[],
    words: "",
    line: &[],
    block: None,
    quotes: "\"'",
    long_quotes: &[],
    has_lifetimes: false,
    folds: false,
    is_diff: false,
};

/// Of languages that write comments as C does.
const C_LIKE: Language = Language { line: &["//"], block: Some(("/*", "*/")), ..PLAIN };

/// Of those that write them as a shell does.
const HASHED: Language = Language { line: &["#"], ..PLAIN };

static LANGUAGES: [Language; 20] = [
    Language {
        name: "Rust",
        labels: &["rust", "rs"],
        words: "as async await box break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
        has_lifetimes: true,
        ..C_LIKE
    },
    Language {
        name: "Python",
        labels: &["python", "py", "python3", "pycon"],
        words: "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
        long_quotes: &["\"\"\"", "'''"],
        ..HASHED
    },
    Language {
        name: "JavaScript",
        labels: &["javascript", "js", "jsx", "mjs", "cjs"],
        words: "async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof let new null of return static super switch this throw true try typeof undefined var void while yield",
        quotes: "\"'`",
        ..C_LIKE
    },
    Language {
        name: "TypeScript",
        labels: &["typescript", "ts", "tsx", "mts"],
        words: "abstract any as async await boolean break case catch class const continue declare default delete do else enum export extends false finally for from function if implements import in infer instanceof interface keyof let namespace never new null number of private protected public readonly return satisfies static string super switch this throw true try type typeof undefined unknown var void while yield",
        quotes: "\"'`",
        ..C_LIKE
    },
    Language { name: "JSON", labels: &["json", "jsonc", "json5", "jsonl"], words: "false null true", ..C_LIKE },
    Language {
        name: "TOML",
        labels: &["toml", "ini", "cfg", "conf"],
        words: "false true",
        long_quotes: &["\"\"\"", "'''"],
        ..HASHED
    },
    Language { name: "YAML", labels: &["yaml", "yml"], words: "false no null off on true yes", ..HASHED },
    Language {
        name: "Shell",
        labels: &["sh", "bash", "shell", "zsh", "fish", "console", "terminal", "shellsession"],
        words: "case do done elif else esac exit export fi for function if in local return select set then until while",
        ..HASHED
    },
    Language {
        name: "C",
        labels: &["c", "h", "cpp", "c++", "cc", "hpp", "cxx", "objc"],
        words: "alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false float for friend if inline int long namespace new noexcept nullptr operator private protected public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while",
        ..C_LIKE
    },
    Language {
        name: "Go",
        labels: &["go", "golang"],
        words: "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var",
        quotes: "\"'`",
        ..C_LIKE
    },
    Language {
        name: "Java",
        labels: &["java", "kotlin", "kt", "scala", "groovy"],
        words: "abstract assert boolean break byte case catch char class companion const continue data default do double else enum extends false final finally float for fun if implements import in instanceof int interface internal is long native new null object open override package private protected public record return sealed short static super suspend switch synchronized this throw throws true try val var void volatile when while",
        long_quotes: &["\"\"\""],
        ..C_LIKE
    },
    Language {
        name: "C#",
        labels: &["csharp", "cs", "c#", "fsharp"],
        words: "abstract as async await base bool break case catch class const continue decimal default delegate do double else enum event false finally float for foreach get if in int interface internal is lock long namespace new null object out override params partial private protected public readonly record ref return sealed set static string struct switch this throw true try using var virtual void when where while yield",
        ..C_LIKE
    },
    Language {
        name: "Swift",
        labels: &["swift"],
        words: "actor as async await break case catch class continue default defer do else enum extension false fileprivate for func guard if import in init inout internal is let nil open private protocol public repeat return self static struct super switch throw throws true try typealias var where while",
        long_quotes: &["\"\"\""],
        quotes: "\"",
        ..C_LIKE
    },
    Language {
        name: "Ruby",
        labels: &["ruby", "rb", "elixir", "ex", "exs"],
        words: "alias and begin break case class def defmodule do else elsif end ensure false fn for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield",
        ..HASHED
    },
    Language {
        name: "PHP",
        labels: &["php"],
        words: "abstract and array as break case catch class clone const continue declare default do echo else elseif enum extends false final finally fn for foreach function if implements include instanceof interface match namespace new null or print private protected public readonly require return static switch this throw trait true try use var while yield",
        line: &["//", "#"],
        ..C_LIKE
    },
    Language {
        name: "SQL",
        labels: &["sql", "postgres", "postgresql", "sqlite", "mysql"],
        words: "add all alter analyze and any array as asc begin between by case cascade check column commit conflict constraint create cross default delete desc distinct do drop else end except exists explain false for foreign from full group having if in index inner insert intersect into is join key lateral left like limit not null offset on or order outer over partition primary references returning right rollback select set table then transaction true union unique update using values view when where with",
        line: &["--"],
        block: Some(("/*", "*/")),
        folds: true,
        ..PLAIN
    },
    Language {
        name: "HTML",
        labels: &["html", "xml", "svg", "vue", "svelte", "htm"],
        words: "",
        block: Some(("<!--", "-->")),
        ..PLAIN
    },
    Language {
        name: "CSS",
        labels: &["css", "scss", "less"],
        words: "auto block bold center fixed flex grid important inherit initial inline none normal relative solid unset",
        block: Some(("/*", "*/")),
        ..PLAIN
    },
    Language {
        name: "Lua",
        labels: &["lua", "nix", "haskell", "hs"],
        words: "and break case class data deriving do else elseif end false for function goto if import in inherit instance let local module newtype nil not of or rec repeat return then true type until where while with",
        line: &["--"],
        ..PLAIN
    },
    Language { name: "diff", labels: &["diff", "patch"], is_diff: true, ..PLAIN },
];

impl Language {
    /// The language that the words after a fence name.
    pub(super) fn of(info: &str) -> Option<&'static Self> {
        let label = info.trim_start().split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | ':')).next()?;
        let names = |language: &&Self| language.labels.iter().any(|known| known.eq_ignore_ascii_case(label));
        LANGUAGES.iter().find(names)
    }

    /// Whether `word` means something in it.
    pub(super) fn has_word(&self, word: &str) -> bool {
        // Longer than any of them: not looked for.
        word.len() <= 12
            && self
                .words
                .split(' ')
                .any(|known| if self.folds { known.eq_ignore_ascii_case(word) } else { known == word })
    }
}
