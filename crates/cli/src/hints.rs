//! `vpass hints`: makes a hint file from the places of files on a mounted image. The places come
//! from `filefrag -v`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::units::Bytes;
use vpass_lab::failure::Failure;
use vpass_lab::plain;

use crate::out;

/// Example of `vpass hints --help`.
pub(crate) const EXAMPLE: &str =
    "Example: vpass hints /mnt/archive/*.iso --latency idle > archive.toml";

/// Arguments of `vpass hints`.
#[derive(Debug, Args)]
pub(crate) struct HintsArgs {
    /// Files on a mounted image of the drive. Their data must be on the drive already.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Latency that the host accepts for reads of the files: none, idle, typical or
    /// smallest.
    #[arg(long, value_name = "NAME", value_parser = a_latency)]
    latency: String,
    /// First byte of the file system's partition on the drive. Default: the image has no
    /// partitions.
    #[arg(long, value_name = "SIZE", default_value = "0B", value_parser = Bytes::parse)]
    partition_offset: Bytes,
}

/// Stretch of the drive, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    offset: u64,
    bytes: u64,
}

/// Checks the name of a latency.
fn a_latency(text: &str) -> Result<String, String> {
    AccessLatency::parse(text).map(|_| text.to_owned())
}

/// Prints a hint file for files.
///
/// # Errors
/// Returns an error if `filefrag` is missing or does not know where a file lies.
pub(crate) fn hints(args: &HintsArgs) -> Result<(), Failure> {
    let mut text = String::new();
    for file in &args.files {
        let _ = writeln!(text, "# {}", plain::path(file));
        for Extent { offset, bytes } in extents_of(file)? {
            let _ = writeln!(
                text,
                "[[range]]\noffset = \"{}B\"\nbytes = \"{bytes}B\"\naccess_latency = \"{}\"\n",
                offset + args.partition_offset.0,
                args.latency
            );
        }
    }
    out::print_file(&text)
}

/// Returns where a file lies, in order of address.
fn extents_of(file: &Path) -> Result<Vec<Extent>, Failure> {
    let wrong = |what: String| Failure::usage(what).at(file.display().to_string());
    let output = Command::new("filefrag").args(["-v", "-b1", "--"]).arg(file).output();
    let output = output.map_err(|e| {
        Failure::usage(format!(
            "filefrag cannot be started ({e}); install it, for example with `apt-get install \
             e2fsprogs`"
        ))
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(wrong(format!("filefrag failed: {said}")));
    }
    let mut extents = parse(&String::from_utf8_lossy(&output.stdout)).map_err(wrong)?;
    extents.sort_unstable();
    Ok(extents)
}

/// Parses the output of `filefrag -v -b1`, which counts in bytes.
///
/// ```text
/// ext:     logical_offset:        physical_offset: length:   expected: flags:
///   0:        0..   16383:    4194304..   4210687:  16384:             last,eof
/// ```
fn parse(text: &str) -> Result<Vec<Extent>, String> {
    let mut extents = vec![];
    for line in text.lines() {
        let fields: Vec<&str> = line.split(':').map(str::trim).collect();
        let [number, _, physical, length, flags @ ..] = fields.as_slice() else { continue };
        if number.parse::<u64>().is_err() {
            continue;
        }
        if flags.iter().any(|flags| flags.contains("unknown") || flags.contains("delalloc")) {
            return Err("some of its data is not on the drive yet; `sync` writes it".into());
        }
        let first = physical.split("..").next().unwrap_or_default().trim();
        let numbers = (first.parse(), length.parse());
        let (Ok(offset), Ok(bytes)) = numbers else {
            return Err(format!("filefrag printed a line of an unknown form: {line}"));
        };
        extents.push(Extent { offset, bytes });
    }
    Ok(extents)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "Filesystem type is: ef53\n\
        File size of /mnt/a is 40000 (40960 blocks of 1 bytes)\n \
        ext:     logical_offset:        physical_offset: length:   expected: flags:\n   \
        0:        0..   16383:    4194304..   4210687:  16384:            \n   \
        1:    16384..   40959:    8388608..   8413183:  24576:    4210688: last,eof\n\
        /mnt/a: 2 extents found\n";

    #[test]
    fn the_extents_of_a_file_are_read() {
        let expected = [(4_194_304, 16_384), (8_388_608, 24_576)];
        let expected = expected.map(|(offset, bytes)| Extent { offset, bytes });
        assert_eq!(parse(PRINTED).unwrap(), expected);
        assert_eq!(parse("/mnt/empty: 0 extents found\n").unwrap(), []);
    }

    #[test]
    fn data_that_is_not_on_the_drive_is_refused() {
        let text = PRINTED.replace("last,eof", "last,unknown_loc,delalloc,eof");
        assert!(parse(&text).unwrap_err().contains("`sync`"));
        let text = PRINTED.replace("4194304..", "somewhere..");
        assert!(parse(&text).unwrap_err().contains("unknown form"));
    }
}
