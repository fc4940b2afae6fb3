//! Start and end of nbdkit: the socket, the plug-in, the user's command, and signals.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use vpass_lab::failure::Failure;
use vpass_lab::{memory, numbers};

use super::{ServeArgs, memory_for_data, plan};
use crate::exit::Exit;
use crate::out::{say, say_all};
use crate::{progress, words};

/// File name of the plug-in. It lies beside the program.
const PLUG_IN: &str = "libvpass_nbdkit.so";
/// Number of requests that nbdkit handles at a time.
const THREADS: &str = "128";
/// Sizes of requests. Clients learn the first three, and other requests are refused. The drive gets
/// longer requests in pieces that a trace can hold.
const SIZES: [&str; 5] = [
    "blocksize-minimum=512",
    "blocksize-preferred=4096",
    "blocksize-maximum=64M",
    "blocksize-error-policy=error",
    "maxdata=16M",
];
/// Time between two looks at nbdkit and at the user's command.
const LOOK: Duration = Duration::from_millis(20);

/// Place at which clients find the drive.
enum Place {
    Socket(PathBuf),
    Tcp(std::net::SocketAddr),
}

impl Place {
    /// Returns the place that the arguments name. A socket that no server uses is removed.
    fn of(args: &ServeArgs) -> Result<Self, Failure> {
        if let Some(address) = args.listen {
            return Ok(Self::Tcp(address));
        }
        let path = args.socket.clone().unwrap_or_else(|| {
            let folder = env::var_os("XDG_RUNTIME_DIR").map_or_else(env::temp_dir, PathBuf::from);
            folder.join(format!("vpass-{}.sock", std::process::id()))
        });
        let path = std::path::absolute(&path).unwrap_or(path);
        take_over(&path)?;
        Ok(Self::Socket(path))
    }

    fn uri(&self) -> String {
        match self {
            Self::Socket(path) => format!("nbd+unix:///?socket={}", path.display()),
            Self::Tcp(address) => format!("nbd://{address}"),
        }
    }

    /// Returns whether a server greets clients.
    fn is_ready(&self) -> bool {
        let mut greeting = [0; 18];
        match self {
            Self::Socket(path) => {
                UnixStream::connect(path).and_then(|mut stream| stream.read_exact(&mut greeting))
            }
            Self::Tcp(address) => std::net::TcpStream::connect(address)
                .and_then(|mut stream| stream.read_exact(&mut greeting)),
        }
        .is_ok()
    }
}

/// Removes a socket that no server uses any more. Refuses any other file.
fn take_over(path: &Path) -> Result<(), Failure> {
    let at = || format!("--socket {}", path.display());
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err(Failure::usage("the file exists and is not a socket").at(at()));
    }
    match UnixStream::connect(path) {
        Err(e) if e.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path)
            .map_err(|e| Failure::usage(format!("the old socket cannot be removed: {e}")).at(at())),
        _ => Err(Failure::usage("another server uses the socket").at(at())),
    }
}

/// Serves a drive until the user's command or the user ends it.
///
/// # Errors
/// Returns an error if the settings are invalid, or if nbdkit or the plug-in is missing.
pub(crate) fn serve(args: &ServeArgs) -> Result<Exit, Failure> {
    let plan = plan(args)?;
    let needed = memory::require(&plan)?;
    let plug_in = plug_in()?;
    let place = Place::of(args)?;
    say_all(&plan.notes()?);
    let status = tempfile::Builder::new().prefix("vpass-serve-").tempdir();
    let status = status.map_err(|e| Failure::failed(format!("folder for temporary files: {e}")))?;
    let file = status.path().join("exit");
    progress::keep_what_is_found();
    let mut nbdkit = start(args, &place, &plug_in, &file)?;
    let ready = wait_until_ready(&place, &mut nbdkit)?;
    if ready {
        let most = numbers::bytes(memory_for_data(args, &plan) + needed);
        say(&format!(
            "vpass: serving {} at {} with at most {most} of memory (nbdkit has process {}). Data \
             lives as long as the server; power cuts are not simulated.",
            plan.drive.name,
            place.uri(),
            nbdkit.id()
        ));
    }
    let command = if ready { run(args, &place, &mut nbdkit)? } else { None };
    let _ = nbdkit.wait();
    if let Place::Socket(path) = &place {
        let _ = fs::remove_file(path);
    }
    let code = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());
    let exit = match code {
        Some(0) => Exit::Done,
        Some(2) => Exit::Usage,
        Some(3) => Exit::Lost,
        Some(_) => Exit::Failed,
        None => return Err(Failure::failed("nbdkit ended without results")),
    };
    Ok(command.filter(|status| !status.success()).map_or(exit, |status| {
        Exit::Command(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }))
}

/// Returns the path of the plug-in, if nbdkit is there too.
fn plug_in() -> Result<PathBuf, Failure> {
    let version = Command::new("nbdkit").arg("--version").stdout(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        return Err(Failure::usage(
            "nbdkit cannot be started; install it, for example with `apt-get install nbdkit`",
        ));
    }
    let beside = env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(PLUG_IN)));
    beside.filter(|path| path.is_file()).ok_or_else(|| {
        Failure::usage(format!(
            "the plug-in {PLUG_IN} is not beside the program vpass; build it with `cargo build \
             --release -p vpass-nbdkit`"
        ))
    })
}

fn start(args: &ServeArgs, place: &Place, plug_in: &Path, status: &Path) -> Result<Child, Failure> {
    let mut nbdkit = Command::new("nbdkit");
    nbdkit.args(["--foreground", "--exit-with-parent", "--threads", THREADS]);
    nbdkit.args(["--filter", "blocksize-policy", "--filter", "blocksize"]);
    match place {
        Place::Socket(path) => _ = nbdkit.arg("--unix").arg(path),
        Place::Tcp(address) => {
            let (ip, port) = (address.ip().to_string(), address.port().to_string());
            nbdkit.args(["--ipaddr", &ip, "--port", &port]);
        }
    }
    let words: Vec<String> =
        words::given().into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    nbdkit.arg(plug_in).args(SIZES).arg(format!("words={}", serde_json::json!(words)));
    if let Some(out) = &args.base.out {
        nbdkit.arg(format!("out={}", out.display()));
    }
    nbdkit.arg(format!("status={}", status.display())).stdin(Stdio::null());
    nbdkit.spawn().map_err(|e| Failure::failed(format!("nbdkit: {e}")))
}

/// Waits until clients can connect. Returns false if nbdkit ended before.
fn wait_until_ready(place: &Place, nbdkit: &mut Child) -> Result<bool, Failure> {
    while !place.is_ready() {
        if has_ended(nbdkit)?.is_some() {
            return Ok(false);
        }
        if progress::is_interrupted() {
            end(nbdkit);
        }
        thread::sleep(LOOK);
    }
    Ok(true)
}

/// Runs the user's command, or waits for the user, and then ends nbdkit. Returns how the command
/// ended.
fn run(args: &ServeArgs, place: &Place, nbdkit: &mut Child) -> Result<Option<ExitStatus>, Failure> {
    let mut command = None;
    if !args.command.is_empty() {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(args.command.join(" ")).env("uri", place.uri());
        let begun = shell.spawn().map_err(|e| Failure::failed(format!("sh: {e}")));
        if begun.is_err() {
            end(nbdkit);
        }
        command = Some(begun?);
    }
    let status = loop {
        let status = command.as_mut().map(has_ended).transpose()?.flatten();
        if status.is_some() || progress::is_interrupted() || has_ended(nbdkit)?.is_some() {
            break status;
        }
        thread::sleep(LOOK);
    };
    if let Some(command) = command.as_mut().filter(|_| status.is_none()) {
        end(command);
        let _ = command.wait();
    }
    end(nbdkit);
    Ok(status)
}

fn has_ended(child: &mut Child) -> Result<Option<ExitStatus>, Failure> {
    child.try_wait().map_err(|e| Failure::failed(format!("a process cannot be watched: {e}")))
}

/// Asks a process to end.
fn end(child: &Child) {
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        // A process that has already ended needs no signal.
        let _ = kill_process(pid, Signal::TERM);
    }
}
