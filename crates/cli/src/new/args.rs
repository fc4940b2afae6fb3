//! Command-line options of `vpass new`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use vpass_drive::base::units::Bytes;
use vpass_drive::config::CellType;
use vpass_lab::sheet::{Link, parse};

#[derive(Debug, Subcommand)]
pub(crate) enum NewCommand {
    /// Make a drive file from a data sheet, and print the drive's numbers beside those of the
    /// sheet.
    #[command(after_help = DRIVE_EXAMPLES)]
    Drive(NewDriveArgs),
    /// Make a read-reclaim policy and its test, in Rust or in Python.
    #[command(after_help = POLICY_EXAMPLES)]
    Policy(NewPolicyArgs),
}

pub(crate) const EXAMPLES: &str = "Example: vpass new drive --capacity 1.92TB --cell tlc \
    --interface pcie4x4 --out mine.toml";

const DRIVE_EXAMPLES: &str = "Examples:\n  \
    vpass new drive --capacity 1.92TB --cell tlc --interface pcie4x4 --sequential-read 6.8GB/s \
    --sequential-write 2GB/s --random-read-iops 850k --dwpd 1 --warranty-years 5 --out \
    mine.toml\n  \
    vpass show mine.toml\n\n\
    --capacity and --cell are needed; all other options may be left out.\n\n\
    The file begins from the nearest preset. A comment beside each changed key names the line of \
    the data sheet that gives the value, or says \"assumption\".";

const POLICY_EXAMPLES: &str = "Examples:\n  \
    vpass new policy early-block --python\n  \
    vpass new policy early-block --out ../early-block\n\n\
    The new policy rewrites a block once the block has served a fixed share of its safe number of \
    reads. Replace this rule with your own idea, and run the test of the policy.";

/// Policy whose files the command writes.
#[derive(Clone, Debug, Args)]
pub(crate) struct NewPolicyArgs {
    /// Name of the policy, such as early-block.
    pub(crate) name: String,
    /// Write Python files. Default: write a Rust crate.
    #[arg(long)]
    pub(crate) python: bool,
    /// Folder for the files. The folder must be new or empty. Default: the name of the policy.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Folder with the source code of vpass. The new Rust crate needs this code. Default: the
    /// nearest folder with this code, upwards from the current folder.
    #[arg(long, value_name = "DIR", conflicts_with = "python")]
    pub(crate) vpass: Option<PathBuf>,
    /// Print one JSON object instead of sentences.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lines of a data sheet, and the drive file to write.
#[derive(Clone, Debug, Args)]
pub(crate) struct NewDriveArgs {
    /// Capacity with its unit, such as 1.92TB.
    #[arg(long, value_name = "SIZE", value_parser = parse::capacity, allow_hyphen_values = true)]
    pub(crate) capacity: Option<Bytes>,
    /// Cell type: slc, mlc, tlc or qlc.
    #[arg(long, value_name = "TYPE", value_parser = parse::cell, allow_hyphen_values = true)]
    pub(crate) cell: Option<CellType>,
    /// Host interface, such as pcie4x4, sata or sas12. Default: the interface of the preset.
    #[arg(long, value_name = "LINK", value_parser = Link::parse, allow_hyphen_values = true)]
    pub(crate) interface: Option<Link>,
    /// Rate of sequential reads, such as 6.8GB/s.
    #[arg(long, value_name = "RATE", value_parser = parse::rate, allow_hyphen_values = true)]
    pub(crate) sequential_read: Option<f64>,
    /// Rate of sequential writes, measured without an SLC cache, such as 2000MB/s.
    #[arg(long, value_name = "RATE", value_parser = parse::rate, allow_hyphen_values = true)]
    pub(crate) sequential_write: Option<f64>,
    /// Random 4-KiB reads per second, such as 850k.
    #[arg(long, value_name = "N", value_parser = parse::iops, allow_hyphen_values = true)]
    pub(crate) random_read_iops: Option<f64>,
    /// Random 4-KiB writes per second, such as 130k.
    #[arg(long, value_name = "N", value_parser = parse::iops, allow_hyphen_values = true)]
    pub(crate) random_write_iops: Option<f64>,
    /// Amount of data that the host may write during the warranty (TBW), such as 3504 (terabytes)
    /// or 1.2PB.
    #[arg(
        long,
        value_name = "TB",
        value_parser = parse::tbw,
        allow_hyphen_values = true,
        conflicts_with = "dwpd",
    )]
    pub(crate) tbw: Option<f64>,
    /// Number of full drive writes per day that the warranty allows (DWPD), such as 1.
    #[arg(
        long,
        value_name = "N",
        value_parser = parse::dwpd,
        allow_hyphen_values = true,
        requires = "warranty_years",
    )]
    pub(crate) dwpd: Option<f64>,
    /// Length of the warranty in years, for --dwpd.
    #[arg(
        long,
        value_name = "YEARS",
        value_parser = parse::years,
        allow_hyphen_values = true,
        requires = "dwpd",
    )]
    pub(crate) warranty_years: Option<f64>,
    /// Number of flash channels of the controller. Default: as in the preset, or more if the given
    /// rates need more channels.
    #[arg(long, value_name = "N", value_parser = parse::channels, allow_hyphen_values = true)]
    pub(crate) channels: Option<u32>,
    /// Write the drive file to this path, completely or not at all.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace an existing drive file.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}
