"""Serves a drive, mounts ext4 on it by nbdfuse and loop, and unmounts it whatever happens."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The plug-in lies beside the program. Tests have both elsewhere.
VPASS = pathlib.Path(os.environ.get("VPASS_PROGRAM", ROOT / "target/release/vpass"))
PACKAGES = "nbdkit libnbd-bin fuse3 fio e2fsprogs mount"
# No inode table or journal is written later: all writes of the file system are made at once.
EXT4 = ["mkfs.ext4", "-q", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0"]


def refuse(reason: str) -> None:
    """End the script because this machine cannot run it."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {reason}", file=sys.stderr)
    sys.exit(2)


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


def require(*programs: str) -> None:
    """End the script if a program, a right or a device is missing."""
    if not VPASS.exists() or not (VPASS.parent / "libvpass_nbdkit.so").exists():
        refuse("build first: cargo build --release -p vpass-cli -p vpass-nbdkit")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    needed = ["nbdkit", "nbdfuse", "losetup", "mount", "mkfs.ext4", "fio", *programs]
    missing = [program for program in needed if shutil.which(program) is None]
    if missing:
        also = "".join(f" {p}" for p in programs if p in missing)
        refuse(f"{', '.join(missing)} missing: apt-get install {PACKAGES}{also}")
    if os.geteuid() != 0:
        refuse("a mount needs root: run it with sudo, or in a container with --privileged")
    for device in ["/dev/fuse", "/dev/loop-control"]:
        if not os.path.exists(device):
            refuse(f"{device} is missing: load its kernel module, or use a privileged container")
    # A script that the user ends must unmount too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))


def done(*command: str | os.PathLike) -> str:
    """Run a command to its end and return its output. End the script if the command fails."""
    ran = subprocess.run(command, text=True, capture_output=True)
    if ran.returncode != 0:
        refuse(f"{command[0]} failed: {ran.stderr.strip()}")
    return ran.stdout.strip()


def until(is_so, process: subprocess.Popen, what: str, log: pathlib.Path) -> None:
    """Wait until a condition holds. End the script if the process ends before."""
    while not is_so():
        if process.poll() is not None:
            refuse(f"{what} ended early:\n{log.read_text()}")
        time.sleep(0.01)


class Served:
    """A live drive. `summary` has the results of the drive after the end of the `with` block."""

    def __init__(self, *options: str | os.PathLike):
        self.options, self.summary, self.said = options, {}, ""

    def __enter__(self) -> "Served":
        with contextlib.ExitStack() as stack:
            self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            self.log, self.socket = self.folder / "log", self.folder / "socket"
            command = [VPASS, "serve", "--json", "--socket", self.socket, *self.options]
            pipes = {"stdout": open(self.folder / "json", "w"), "stderr": open(self.log, "w")}
            # Ctrl-C ends this script, which then ends the server when nothing is mounted.
            self.vpass = subprocess.Popen(command, start_new_session=True, **pipes)
            stack.callback(self.end)
            until(lambda: self.nbdkit(), self.vpass, "vpass serve", self.log)
            self.undo = stack.pop_all()
        return self

    def __exit__(self, *_) -> None:
        former = signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.undo.close()
        signal.signal(signal.SIGINT, former)

    @property
    def uri(self) -> str:
        """Address of the drive."""
        return f"nbd+unix:///?socket={self.socket}"

    def nbdkit(self) -> int:
        """Return the process number of nbdkit; 0 until the drive is served."""
        found = re.search(r"nbdkit has process (\d+)", self.log.read_text())
        return int(found[1]) if found else 0

    def start_clock(self) -> None:
        """End the fast load: from now on, replies take the drive's time."""
        os.kill(self.nbdkit(), signal.SIGUSR1)

    def end(self) -> None:
        """End the server, and take its results."""
        self.vpass.terminate()
        self.vpass.wait()
        self.said = self.log.read_text()
        with contextlib.suppress(ValueError):
            self.summary = json.loads((self.folder / "json").read_text())

    def attach(self) -> str:
        """Make the drive a loop device and return its path."""
        fuse = self.folder / "fuse"
        fuse.mkdir()
        with open(self.log, "a") as log:
            command = ["nbdfuse", fuse / "drive", self.uri]
            nbdfuse = subprocess.Popen(command, start_new_session=True, stderr=log)
        self.undo.callback(ended, nbdfuse)
        self.undo.callback(subprocess.run, ["umount", "-l", fuse])
        until((fuse / "drive").exists, nbdfuse, "nbdfuse", self.log)
        # Without direct I/O, the loop device would answer reads from its own cache.
        loop = done("losetup", "--find", "--show", "--direct-io=on", fuse / "drive")
        self.undo.callback(subprocess.run, ["losetup", "--detach", loop])
        return loop

    def mount(self, device: str) -> pathlib.Path:
        """Mount a device and return the folder of its files."""
        return mounted(self.undo, device, self.folder / "disk")


def mounted(undo: contextlib.ExitStack, device: str | os.PathLike, folder: pathlib.Path):
    """Mount a device or an image until `undo` ends, and return the folder."""
    folder.mkdir()
    tried = subprocess.run(["mount", device, folder], stderr=subprocess.PIPE, text=True)
    if tried.returncode != 0:
        refuse(f"nothing can be mounted here: {tried.stderr.strip()}")
    undo.callback(unmount, folder)
    return folder


def ended(process: subprocess.Popen) -> None:
    """Wait until a process has ended. A process that does not end is killed."""
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def unmount(folder: pathlib.Path) -> None:
    """Unmount a folder. A program that was killed may use it for some milliseconds more."""
    for _ in range(200):
        if subprocess.run(["umount", folder], stderr=subprocess.DEVNULL).returncode == 0:
            return
        time.sleep(0.05)
    subprocess.run(["umount", "-l", folder])


def fio(*options: str | os.PathLike) -> tuple[dict, bool]:
    """Run fio. Return the JSON of its first job, and whether a request of this job failed."""
    command = ["fio", "--name=job", "--output-format=json", *options]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if "{" not in ran.stdout:
        refuse(f"fio failed: {ran.stderr or ran.stdout}")
    job = json.loads(ran.stdout[ran.stdout.index("{") :])["jobs"][0]
    return job, job["error"] != 0


def percentile(job: dict, percent: str, kind: str = "read") -> float:
    """Return a latency percentile of a job of fio, in microseconds of real time."""
    found = job[kind]["clat_ns"].get("percentile", {})
    return next((ns / 1e3 for p, ns in found.items() if float(p) == float(percent)), 0.0)
