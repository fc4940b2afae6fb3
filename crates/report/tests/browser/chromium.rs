//! Chromium without a window, driven over a pipe. The pipe carries the `DevTools` protocol, whose
//! messages end with a zero byte. The driver needs no port and no other program.

#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longest time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Names of events for a request or a complaint of the page.
const NOTED: [&str; 4] = [
    "Log.entryAdded",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Network.requestWillBeSent",
];

/// Browser with one tab.
pub(crate) struct Browser {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    /// Requests and complaints of the page.
    pub(crate) noted: Vec<Value>,
    /// Number of saved files.
    saved: u32,
    /// Folder with the page, the profile and the saved files.
    folder: TempDir,
}

impl Browser {
    /// Starts a browser with a tab that shows `page`; `None` if chromium is not installed.
    pub(crate) fn open(page: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let Ok(mut child) = spawned(folder.path()) else {
            eprintln!("skipped: chromium is not installed");
            return None;
        };
        let requests = child.stdin.take().expect("a pipe");
        let mut messages = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, answers) = channel();
        thread::spawn(move || {
            let mut bytes = vec![];
            while messages.read_until(0, &mut bytes).is_ok_and(|length| length > 0) {
                bytes.pop();
                let message = serde_json::from_slice(&bytes).expect("a message in JSON");
                if sender.send(message).is_err() {
                    return;
                }
                bytes.clear();
            }
        });
        let (session, last_id, noted, saved) = (None, 0, vec![], 0);
        let mut browser = Self { child, requests, answers, session, last_id, noted, saved, folder };
        browser.start_tab();
        browser.go_to(page, "");
        Some(browser)
    }

    fn start_tab(&mut self) {
        let downloads = self.folder.path().join("saved");
        let saving = json!({"behavior": "allow", "downloadPath": downloads, "eventsEnabled": true});
        self.ask("Browser.setDownloadBehavior", &saving);
        let tab = self.ask("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": tab["targetId"], "flatten": true});
        let attached = self.ask("Target.attachToTarget", &attach);
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Log", "Runtime", "Network"] {
            self.ask(&format!("{domain}.enable"), &json!({}));
        }
        self.resize(1200, 900);
    }

    /// Shows a page at an address that ends with `hash`, and waits until its script has run.
    pub(crate) fn go_to(&mut self, page: &str, hash: &str) {
        let file = self.folder.path().join("report.html");
        fs::write(&file, page).expect("a written page");
        let address = format!("file://{}{hash}", file.display());
        // If only the hash changed, the browser would not load the page again.
        self.ask("Page.navigate", &json!({"url": "about:blank"}));
        self.noted.clear();
        self.ask("Page.navigate", &json!({"url": address}));
        self.wait_for("document.readyState === 'complete'");
    }

    /// Sets the size of the window in CSS pixels.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let is_mobile = width < 600;
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_mobile
        });
        self.ask("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Shows the page as on `print` or `screen`, with the theme `light` or `dark`.
    pub(crate) fn show_as(&mut self, media: &str, theme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
        self.ask("Emulation.setEmulatedMedia", &json!({"media": media, "features": features}));
    }

    /// Sends a command and returns its result. Events that arrive meanwhile are noted.
    ///
    /// # Panics
    /// Panics if the browser refuses the command or does not answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let text = message.to_string() + "\0";
        self.requests.write_all(text.as_bytes()).expect("a browser that listens");
        loop {
            let answer = self.answers.recv_timeout(PATIENCE).expect("an answer of the browser");
            if answer["id"] == self.last_id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let is_saved = answer["method"] == "Browser.downloadProgress"
                && answer["params"]["state"] == "completed";
            self.saved += u32::from(is_saved);
            if NOTED.iter().any(|noted| answer["method"] == *noted) {
                self.noted.push(answer);
            }
        }
    }

    /// Evaluates an expression in the page, and returns its value.
    ///
    /// # Panics
    /// Panics if the expression throws.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.ask("Runtime.evaluate", &params);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Evaluates an expression in the page, and returns its text.
    ///
    /// # Panics
    /// Panics if the value is not a text.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// Waits until an expression in the page is true.
    ///
    /// # Panics
    /// Panics if this takes too long.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            assert!(begun.elapsed() < PATIENCE, "{expression} does not become true");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key at the element that has the focus.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            "End" => 35,
            "Home" => 36,
            "Tab" => 9,
            " " => 32,
            _ => 0,
        };
        let text = if key == " " { " " } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let params =
                json!({"type": kind, "key": key, "windowsVirtualKeyCode": code, "text": text});
            self.ask("Input.dispatchKeyEvent", &params);
        }
    }

    /// Moves the pointer to a place in the window. If `clicks`, also clicks there.
    pub(crate) fn point(&mut self, x: f64, y: f64, clicks: bool) {
        let kinds: &[&str] =
            if clicks { &["mouseMoved", "mousePressed", "mouseReleased"] } else { &["mouseMoved"] };
        for kind in kinds {
            let (button, count) = if *kind == "mouseMoved" { ("none", 0) } else { ("left", 1) };
            let params =
                json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": count});
            self.ask("Input.dispatchMouseEvent", &params);
        }
    }

    /// Clicks an element that saves a file, and returns the content of the file. `selector` selects
    /// the element.
    ///
    /// # Panics
    /// Panics if no file with this name appears.
    pub(crate) fn saved(&mut self, selector: &str, name: &str) -> Vec<u8> {
        let before = self.saved;
        self.value(&format!("document.querySelector({selector:?}).click()"));
        let begun = Instant::now();
        while self.saved == before {
            assert!(begun.elapsed() < PATIENCE, "{name} was not saved");
            self.value("1");
            thread::sleep(Duration::from_millis(20));
        }
        let file = self.folder.path().join("saved").join(name);
        let content = fs::read(&file).unwrap_or_else(|e| panic!("{name}: {e}"));
        fs::remove_file(&file).expect("a file that can be removed");
        content
    }

    /// Writes a picture of the whole page into the folder `VPASS_SCREENSHOTS`, if the variable is
    /// set.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("VPASS_SCREENSHOTS").map(PathBuf::from) else { return };
        let size = self.ask("Page.getLayoutMetrics", &json!({}))["cssContentSize"].clone();
        let clip = json!({
            "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1,
        });
        let params = json!({"captureBeyondViewport": true, "clip": clip});
        let shot = self.ask("Page.captureScreenshot", &params);
        let bytes = STANDARD.decode(shot["data"].as_str().expect("a picture")).expect("base64");
        fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(name), bytes)).unwrap();
    }
}

/// Starts chromium. The test uses its pipes 3 and 4, and its own output is dropped.
fn spawned(folder: &Path) -> std::io::Result<Child> {
    if !is_installed() {
        return Err(std::io::ErrorKind::NotFound.into());
    }
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    Command::new("sh")
        .args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null", "sh", "chromium"])
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--no-first-run", "--disable-extensions", "--remote-debugging-pipe", &profile])
        .arg("about:blank")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

fn is_installed() -> bool {
    Command::new("chromium").arg("--version").output().is_ok_and(|done| done.status.success())
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends by itself when its pipe is closed. The kill is for a browser that hangs.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
