//! Reads the lines of text formats whose columns say how to read them ([`Kind`]). Each line stands
//! alone. The columns are those of a published format, or those that the user gave (`--columns`).

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::phrase::Phrase;
use vpass_drive::base::request::Op;

use crate::traces::rows::blk::{Counted, without_rows};
use crate::traces::rows::fields::{Fields, hex_flag, is_blank, rwbs};
use crate::traces::rows::format::{BadRow, Column, Format, Kind, TraceRow};
use crate::traces::rows::head::is_decimal;
use crate::traces::rows::missing_times::MissingTimes;
use crate::traces::rows::names::Names;
use crate::traces::rows::reader::{LineReader, Opening};
use crate::traces::rows::unit::TimeUnit;

/// Arrangement of the columns in a line.
#[derive(Clone, Copy, Debug)]
pub(in crate::traces) struct Layout {
    pub(in crate::traces) separator: Separator,
    /// Number of columns at the end of a line that may be absent.
    pub(in crate::traces) optional: usize,
    /// Whether a line may have further columns, which are not read.
    pub(in crate::traces) may_continue: bool,
    pub(in crate::traces) header: Header,
}

/// Text between two columns.
#[derive(Clone, Copy, Debug)]
pub(in crate::traces) enum Separator {
    /// Commas. Blanks are part of a column.
    Commas,
    /// Commas. Blanks are dropped.
    SpacedCommas,
    /// Runs of spaces and tabs.
    Blanks,
    /// Commas, if any of the first lines has enough of them for all columns. Otherwise, blanks.
    Either,
}

/// Lines that are not rows.
#[derive(Clone, Copy, Debug)]
pub(in crate::traces) enum Header {
    /// Every line is a row.
    None,
    /// Lines that begin with this text, in any case.
    Named(&'static [u8]),
    /// Comments, which begin with `#`. Also lines without any number before the first row.
    Unknown,
}

impl Header {
    /// Returns whether a line begins with the text of the header.
    pub(in crate::traces) fn is(self, line: &[u8]) -> bool {
        let Self::Named(name) = self else { return false };
        line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
    }
}

/// Reader of a file.
pub(in crate::traces) struct ColumnReader {
    columns: &'static [Column],
    layout: Layout,
    /// Length of the unit of times in ns, if the user gave the unit.
    unit_ns: Option<u64>,
    /// Direction of all rows, if the columns have no direction.
    op: Op,
    /// Times of the rows, if the columns have no time.
    times: Option<MissingTimes>,
    devices: Names,
    /// Events of requests, if the columns have them.
    counted: Option<Counted>,
    has_rows: bool,
    /// Current line without its blanks; used only if blanks are dropped.
    squeezed: Vec<u8>,
}

impl ColumnReader {
    pub(in crate::traces) fn new(format: &Format, mut layout: Layout, opening: &Opening) -> Self {
        if matches!(layout.separator, Separator::Either) {
            let is_enough =
                |line: &[u8]| line.split(|b| *b == b',').count() >= format.columns.len();
            let has_commas = opening.head.split(|b| *b == b'\n').any(is_enough);
            layout.separator = if has_commas { Separator::SpacedCommas } else { Separator::Blanks };
        }
        let options = opening.options;
        let action = format.columns.iter().position(|column| matches!(column.kind, Kind::Action));
        Self {
            columns: format.columns,
            layout,
            unit_ns: options.time_unit.map(TimeUnit::ns),
            op: options.assume_op.unwrap_or(Op::Read),
            times: format.times.is_none().then(|| MissingTimes::new(options.clock)),
            devices: Names::default(),
            counted: action.map(|column| Counted::new(opening, column)),
            has_rows: false,
            squeezed: vec![],
        }
    }

    /// Reads the columns of a line. Returns `None` if the line moves no data.
    #[inline]
    fn row<const BLANKS: bool>(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        let mut fields = Fields::<BLANKS>::new(line);
        let mut row =
            TraceRow { at_ns: 0, device: 0, offset: 0, bytes: 0, op: self.op, hint: None };
        let (mut host, mut name, mut action) = (0, None, &b""[..]);
        let least = self.columns.len() - self.layout.optional;
        for (i, column) in self.columns.iter().enumerate() {
            if i >= least && !fields.more() {
                break;
            }
            let unit = |ns: u64| self.unit_ns.unwrap_or(ns);
            match column.kind {
                Kind::Time(ns) => row.at_ns = fields.scaled(unit(ns))?,
                Kind::Decimal(ns) => row.at_ns = fields.decimal(unit(ns).ilog10(), false)?,
                Kind::Stamp(ns) => row.at_ns = fields.decimal(ns.ilog10(), true)?,
                Kind::Device => row.device = fields.device()?,
                Kind::Name => name = Some(fields.text()?),
                Kind::Host => {
                    host = fields.place();
                    fields.text()?;
                }
                Kind::Disk => {
                    fields.device()?;
                    name = Some(fields.since(host));
                }
                Kind::Action => action = fields.text()?,
                Kind::Op(codes) => {
                    let text = fields.text()?;
                    let code = codes.iter().find(|(code, _)| code.as_bytes() == text);
                    row.op = code.ok_or(BadRow::Column(i))?.1;
                }
                Kind::Flags => row.op = hex_flag(fields.text()?).ok_or(BadRow::Column(i))?,
                Kind::Codes(codes) => {
                    match coded(codes, fields.text()?).ok_or(BadRow::Column(i))? {
                        Some(op) => row.op = op,
                        None => return Ok(None),
                    }
                }
                Kind::Offset(unit) => row.offset = fields.offset(unit)?,
                Kind::Size(unit) => row.bytes = fields.scaled(unit)?,
                Kind::Hint => row.hint = hint(fields.text()?).ok_or(BadRow::Column(i))?,
                Kind::Whole => fields.unused_number()?,
                Kind::Only(text) => {
                    if fields.text()? != text.as_bytes() {
                        return Ok(None);
                    }
                }
                Kind::Skip(_) | Kind::Own(_) => fields.skip()?,
            }
        }
        if !self.layout.may_continue {
            fields.end()?;
        }
        if let Some(name) = name {
            row.device = self.devices.number(name)?;
        }
        if let Some(times) = &mut self.times {
            row.at_ns = times.next();
        }
        self.has_rows = true;
        match &mut self.counted {
            None => Ok(Some(row)),
            Some(counted) => counted.take(action, || Ok(Some(row))),
        }
    }

    /// Reads a line after its blanks have been dropped.
    #[inline]
    fn squeezed_row(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        if memchr::memchr2(b' ', b'\t', line).is_none() {
            return self.row::<false>(line);
        }
        let mut squeezed = std::mem::take(&mut self.squeezed);
        squeezed.clear();
        squeezed.extend(line.iter().filter(|b| !is_blank(**b)));
        let row = self.row::<false>(&squeezed);
        self.squeezed = squeezed;
        row
    }

    /// Returns whether a line that is not a row is a header.
    #[cold]
    fn is_header(&self, line: &[u8]) -> bool {
        let is_column_end = |b: &u8| *b == b',' || is_blank(*b);
        match self.layout.header {
            Header::Unknown => !self.has_rows && !line.split(is_column_end).any(is_decimal),
            header => header.is(line),
        }
    }

    /// Returns whether the name of a device is a host and a disk.
    fn has_hosts(&self) -> bool {
        self.columns.iter().any(|column| matches!(column.kind, Kind::Host))
    }
}

impl LineReader for ColumnReader {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
        let may_be_comment = matches!(self.layout.header, Header::Unknown);
        if may_be_comment && line.trim_ascii_start().first() == Some(&b'#') {
            return Ok(None);
        }
        let row = match self.layout.separator {
            Separator::Commas => self.row::<false>(line),
            Separator::SpacedCommas => self.squeezed_row(line),
            Separator::Blanks | Separator::Either => self.row::<true>(line),
        };
        match row {
            Err(_) if self.is_header(line) => Ok(None),
            row => row,
        }
    }

    /// Returns the name of a device. A host and a disk have the form of the file names of the MSR
    /// collection: the name `hm_0` is disk 0 of host hm.
    fn device_name(&self, device: u32) -> String {
        if self.has_hosts() {
            self.devices.name(device).replace(',', "_")
        } else if self.devices.last().is_some() {
            self.devices.name(device)
        } else {
            device.to_string()
        }
    }

    /// Returns whether `name` is the name of the device, such as `hm_0`. If devices have hosts, the
    /// number of the disk also is a name. The name 0 then stands for disk 0 of every host.
    fn is_device(&self, device: u32, name: &str) -> bool {
        let disk = self.device_name(device);
        let number = disk.rsplit_once('_').filter(|_| self.has_hosts()).map(|(_, number)| number);
        disk == name || number == Some(name)
    }

    fn counted(&self) -> Option<Phrase> {
        self.counted.as_ref().and_then(Counted::text)
    }

    fn without_rows(&self) -> Phrase {
        self.counted.as_ref().map_or_else(Phrase::default, |_| without_rows())
    }
}

/// Returns the direction of a text, which is one of the codes in any case. Other texts are read as
/// the letters of blktrace if the codes are R, W and D. `Some(None)` is an event without data.
#[expect(clippy::option_option, reason = "no direction, and no data, differ")]
fn coded(codes: &[(&str, Op)], text: &[u8]) -> Option<Option<Op>> {
    let code = codes.iter().find(|(code, _)| text.eq_ignore_ascii_case(code.as_bytes()));
    if let Some((_, op)) = code {
        return Some(Some(*op));
    }
    let is_letters = text.iter().all(|b| b"RWDFSAMN".contains(b));
    let has_letters = codes.iter().any(|(code, _)| *code == "r");
    if is_letters && has_letters { rwbs(text) } else { None }
}

/// Reads the hint of a request. `Some(None)` is the hint `none`.
#[expect(clippy::option_option, reason = "no hint, and the hint `none`, differ")]
fn hint(text: &[u8]) -> Option<Option<AccessLatency>> {
    std::str::from_utf8(text).ok().and_then(|text| AccessLatency::parse(text).ok())
}
