//! Secrets by name, tokens and keys: in the system's keyring where there is one, else in a file that only its owner can read.

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::Write as _,
    path::{Path, PathBuf},
    thread,
};

use crate::Error;

/// Where secrets are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPlace {
    /// The system's keyring.
    Keyring,
    /// A file with mode 0600.
    File(PathBuf),
}

impl fmt::Display for SecretPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring => f.write_str("the system's keyring"),
            Self::File(path) => write!(f, "{}, readable by you alone", path.display()),
        }
    }
}

const SERVICE: &str = "onrecord";

/// Keeps `secret` under `name` (an account's DID for its tokens), replacing what was there.
pub(crate) fn store(folder: &Path, name: &(impl AsRef<str> + ?Sized), secret: &str) -> Result<SecretPlace, Error> {
    let name = name.as_ref();
    let file = SecretFile::of(folder);
    // A file there already is where this data folder keeps its tokens, keyring or not.
    if !file.path.exists() {
        let secret = secret.to_owned();
        if keyring(folder, name, move |entry| entry.set_password(&secret)).is_some() {
            return Ok(SecretPlace::Keyring);
        }
    }
    file.change(name, |secrets| {
        secrets.insert(name.to_owned(), secret.to_owned());
    })?;
    Ok(SecretPlace::File(file.path))
}

/// What is kept under `name`, and where.
pub(crate) fn load(folder: &Path, name: &(impl AsRef<str> + ?Sized)) -> Result<Option<(String, SecretPlace)>, Error> {
    let name = name.as_ref();
    let file = SecretFile::of(folder);
    if let Some(secret) = file.read(name)?.remove(name) {
        return Ok(Some((secret, SecretPlace::File(file.path))));
    }
    let found = keyring(folder, name, keyring::Entry::get_password);
    Ok(found.map(|secret| (secret, SecretPlace::Keyring)))
}

/// Forgets what is kept under `name`, in both places.
pub(crate) fn forget(folder: &Path, name: &(impl AsRef<str> + ?Sized)) -> Result<(), Error> {
    let name = name.as_ref();
    let file = SecretFile::of(folder);
    if file.path.exists() {
        file.change(name, |secrets| {
            secrets.remove(name);
        })?;
    }
    // Not being there is what was wanted.
    let _ = keyring(folder, name, keyring::Entry::delete_credential);
    Ok(())
}

/// A random name that nobody can guess: 32 hexadecimal digits.
///
/// # Errors
/// The system has no randomness to give.
pub fn random_name() -> Result<String, Error> {
    Ok(random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// `N` random bytes from the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| Error::Randomness(std::io::Error::other(e.to_string())))?;
    Ok(bytes)
}

/// Runs `job` on the keyring entry of that name; `None` where there is no keyring or it refuses.
///
/// On a thread of its own: the Secret Service client blocks, which an async runtime forbids.
fn keyring<T: Send + 'static>(
    folder: &Path,
    name: &str,
    job: impl FnOnce(&keyring::Entry) -> keyring::Result<T> + Send + 'static,
) -> Option<T> {
    // Two data folders signed in to one account have sessions of their own.
    let user = format!("{name} {}", folder.display());
    let run = move || keyring::Entry::new(SERVICE, &user).and_then(|entry| job(&entry)).ok();
    thread::spawn(run).join().ok().flatten()
}

struct SecretFile {
    path: PathBuf,
}

impl SecretFile {
    fn of(folder: &Path) -> Self {
        Self { path: folder.join("tokens.json") }
    }

    fn read(&self, name: &str) -> Result<BTreeMap<String, String>, Error> {
        let error = |why: String| Error::Secrets { account: name.to_owned(), why };
        match fs::read(&self.path) {
            // The parser's own message could quote a token.
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|_| error(format!("{} is damaged; remove it and sign in again", self.path.display()))),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(e) => Err(error(format!("{}: {e}", self.path.display()))),
        }
    }

    /// Rewrites the file whole: a crash leaves the old one or the new one, never half of either.
    fn change(&self, name: &str, edit: impl FnOnce(&mut BTreeMap<String, String>)) -> Result<(), Error> {
        let locked = |e: std::io::Error| Error::Secrets { account: name.to_owned(), why: e.to_string() };
        // Two processes may renew the tokens of two accounts at once: neither may undo the other's.
        let lock = self.path.with_extension("lock");
        crate::owner_only(&lock).map_err(locked)?;
        let lock = fs::OpenOptions::new().append(true).open(&lock).map_err(locked)?;
        match lock.lock() {
            // A file system without locks is used as it is.
            Err(e) if e.kind() != std::io::ErrorKind::Unsupported => return Err(locked(e)),
            _ => {}
        }
        let mut secrets = self.read(name)?;
        edit(&mut secrets);
        let error = |e: &dyn fmt::Display| Error::Secrets {
            account: name.to_owned(),
            why: format!("{}: {e}", self.path.display()),
        };
        let folder = self.path.parent().unwrap_or(Path::new("."));
        // Made with mode 0600 by the library.
        let mut new = tempfile::NamedTempFile::new_in(folder).map_err(|e| error(&e))?;
        new.write_all(&serde_json::to_vec(&secrets)?).map_err(|e| error(&e))?;
        new.as_file().sync_all().map_err(|e| error(&e))?;
        new.persist(&self.path).map_err(|e| error(&e.error))?;
        Ok(())
    }
}
