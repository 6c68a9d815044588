//! Pages as a browser shows them.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::temp_dir;

/// A picture to take.
#[derive(Debug, Clone, Copy)]
pub struct Screenshot {
    /// Width of the window, in CSS pixels; not below 500, the narrowest window that Chromium has.
    pub width: u32,
    /// Height of the window, in CSS pixels.
    pub height: u32,
    /// Whether the reader prefers dark pages.
    pub dark: bool,
}

impl Screenshot {
    /// Takes it of the page at `url`, as a PNG file at `path`.
    ///
    /// # Panics
    /// If there is no Chromium, or it makes no picture.
    pub fn take(self, url: &str, path: &Path) {
        let profile = temp_dir("onrecord-chromium-");
        let output = Command::new("chromium")
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
            ])
            // Blink's own numbers: 0 is dark, 1 is light.
            .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!self.dark)))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--window-size={},{}", self.width, self.height))
            .arg(format!("--screenshot={}", path.display()))
            .arg(url)
            .stdin(Stdio::null())
            .output()
            .expect("These tests need Chromium (Debian's chromium) on the PATH");
        assert!(
            output.status.success() && path.exists(),
            "Chromium made no picture of {url}: {}",
            String::from_utf8_lossy(&output.stderr),
        );
    }
}
