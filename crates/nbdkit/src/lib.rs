//! Plug-in for nbdkit that serves a live drive. `vpass serve` starts nbdkit with it and passes its own
//! command line. The plug-in makes the drive, and shows the results of the run when nbdkit ends.

mod host;
mod late;
mod settings;

use std::sync::OnceLock;

use nbdkit::{Error, Flags, Result, Server, ThreadModel};
use vpass_live::Action;

use crate::host::Host;
use crate::settings::Settings;

/// Drive that is served, and its clients.
static HOST: OnceLock<Host> = OnceLock::new();

/// Connection of a client.
struct Connection;

fn host() -> &'static Host {
    HOST.get().expect("nbdkit calls after_fork before it serves")
}

impl Server for Connection {
    fn name() -> &'static str {
        "vpass"
    }

    fn load() {
        settings::close_socket_to_others();
        settings::keep_standard_output();
    }

    fn config(key: &str, value: &str) -> Result<()> {
        settings::set(key, value).map_err(|why| Error::new(libc::EINVAL, why))
    }

    fn after_fork() -> Result<()> {
        settings::restore_file_modes();
        let begun = Settings::take().begin().map_err(|why| Error::new(libc::EINVAL, why))?;
        let host = HOST.get_or_init(|| begun);
        std::thread::spawn(|| host.keep_time());
        Ok(())
    }

    fn unload() {
        if let Some(host) = HOST.get() {
            settings::restore_standard_output();
            host.end();
        }
    }

    fn thread_model() -> Result<ThreadModel> {
        Ok(ThreadModel::Parallel)
    }

    fn open(_: bool) -> Result<Box<dyn Server>> {
        Ok(Box::new(Self))
    }

    fn get_size(&self) -> Result<i64> {
        Ok(host().capacity().cast_signed())
    }

    fn can_multi_conn(&self) -> Result<bool> {
        Ok(true)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        let bytes = host().serve(offset, Action::Read(buf.len() as u32))?;
        buf.copy_from_slice(&bytes);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64, _: Flags) -> Result<()> {
        host().serve(offset, Action::Write(buf.to_vec())).map(drop)
    }

    fn trim(&self, count: u32, offset: u64, _: Flags) -> Result<()> {
        host().serve(offset, Action::Trim(count)).map(drop)
    }

    fn flush(&self) -> Result<()> {
        host().flush()
    }
}

/// Registration of the plug-in. The macro makes the function that nbdkit calls.
mod register {
    use super::Connection;

    nbdkit::plugin!(Connection {
        after_fork,
        can_multi_conn,
        config,
        flush,
        load,
        thread_model,
        trim,
        unload,
        write_at
    });
}
