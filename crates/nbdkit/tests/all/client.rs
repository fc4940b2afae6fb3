//! Client of a live drive: the part of the NBD protocol that the tests need. A request waits for its
//! reply, or is sent without a wait.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

const OPTION_MAGIC: u64 = 0x4948_4156_454F_5054;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;
/// Option that names the export and ends the handshake, without padding of the server's answer.
const EXPORT_NAME: u32 = 1;
/// Flag of a request whose data must be on flash before the reply.
const FUA: u32 = 1 << 16;
const NO_ZEROES: u32 = 3;

/// Command of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Read = 0,
    Write = 1,
    Flush = 3,
    Trim = 4,
}

/// Error number that a server sends.
pub(crate) type Errno = u32;

/// Error numbers of the protocol.
pub(crate) const EIO: Errno = 5;
pub(crate) const ENOSPC: Errno = 28;

/// Connection to a live drive.
pub(crate) struct Client {
    stream: UnixStream,
    cookie: u64,
    /// Flags of the next requests.
    flags: u32,
}

impl Client {
    /// Connects to the server at this socket.
    pub(crate) fn connect(socket: &Path) -> io::Result<Self> {
        let mut stream = UnixStream::connect(socket)?;
        let mut hello = [0; 18];
        stream.read_exact(&mut hello)?;
        stream.write_all(&NO_ZEROES.to_be_bytes())?;
        stream.write_all(&OPTION_MAGIC.to_be_bytes())?;
        stream.write_all(&EXPORT_NAME.to_be_bytes())?;
        stream.write_all(&0u32.to_be_bytes())?;
        let mut size_and_flags = [0; 10];
        stream.read_exact(&mut size_and_flags)?;
        Ok(Self { stream, cookie: 0, flags: 0 })
    }

    /// Sends a request without a wait for the reply.
    pub(crate) fn send(
        &mut self,
        command: Command,
        offset: u64,
        bytes: u32,
        data: &[u8],
    ) -> io::Result<()> {
        self.cookie += 1;
        let mut request = Vec::with_capacity(28 + data.len());
        request.extend(REQUEST_MAGIC.to_be_bytes());
        request.extend((self.flags | command as u32).to_be_bytes());
        request.extend(self.cookie.to_be_bytes());
        request.extend(offset.to_be_bytes());
        request.extend(bytes.to_be_bytes());
        request.extend(data);
        self.stream.write_all(&request)
    }

    /// Receives the next reply. A reply to a read has this number of bytes.
    pub(crate) fn receive(&mut self, bytes: u32) -> io::Result<Result<Vec<u8>, Errno>> {
        let mut reply = [0; 16];
        self.stream.read_exact(&mut reply)?;
        let word = |at: usize| u32::from_be_bytes(reply[at..at + 4].try_into().expect("a word"));
        assert_eq!(word(0), REPLY_MAGIC);
        if word(4) != 0 {
            return Ok(Err(word(4)));
        }
        let mut data = vec![0; bytes as usize];
        self.stream.read_exact(&mut data)?;
        Ok(Ok(data))
    }

    /// Reads bytes.
    pub(crate) fn read(&mut self, offset: u64, bytes: u32) -> Result<Vec<u8>, Errno> {
        self.send(Command::Read, offset, bytes, &[]).expect("the server listens");
        self.receive(bytes).expect("the server answers")
    }

    /// Writes bytes.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Errno> {
        self.send(Command::Write, offset, data.len() as u32, data).expect("the server listens");
        self.receive(0).expect("the server answers").map(drop)
    }

    /// Writes bytes. With `fua`, the reply comes when they are on flash.
    pub(crate) fn write_through(
        &mut self,
        offset: u64,
        data: &[u8],
        fua: bool,
    ) -> Result<(), Errno> {
        self.flags = if fua { FUA } else { 0 };
        let written = self.write(offset, data);
        self.flags = 0;
        written
    }

    /// Discards bytes, or flushes.
    pub(crate) fn other(&mut self, command: Command, offset: u64, bytes: u32) -> Result<(), Errno> {
        self.send(command, offset, bytes, &[]).expect("the server listens");
        self.receive(0).expect("the server answers").map(drop)
    }
}
