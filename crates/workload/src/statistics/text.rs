//! Writes the text of a workload file. The file has a `[statistics]` table and a comment on every
//! key.

use std::fmt::{Display, Write};

use super::statistics_config::{SideConfig, StatisticsConfig};

impl StatisticsConfig {
    /// Returns the text of a workload file that contains this `[statistics]` table.
    pub fn to_file_text(&self, description: &str) -> String {
        let quoted = |text: &str| toml::Value::String(text.into()).to_string();
        let mut text = format!("description = {}\n\n[statistics]\n", quoted(description));
        let mut key = |name: &str, value: &dyn Display, meaning: &str| {
            let _ = writeln!(text, "{:<40} # {meaning}", format!("{name} = {value}"));
        };
        key("disk", &quoted(&self.disk), "disk of these statistics");
        key("source", &quoted(&self.source), "source of the numbers");
        key("page", &quoted(&self.page.to_string()), "page size; all page counts use this size");
        key("footprint_pages", &self.footprint_pages, "different pages, read or written");
        key(
            "scale",
            &self.scale,
            "share of pages and requests that remain; request times do not change",
        );
        key("speed", &self.speed, "2: twice as fast");
        key(
            "extent",
            &quoted(&self.extent.to_string()),
            "length of each run of neighbouring pages with similar popularity",
        );
        if let Some(depth) = self.queue_depth {
            key(
                "queue_depth",
                &depth,
                "number of outstanding requests, used instead of the times of the windows",
            );
        }
        text.push_str(
            "\n# For each window: end, pages read and pages written; each request counts every \
             touched page once.\n",
        );
        text.push_str("[statistics.windows]\n");
        list(&mut text, "ends_s", self.windows.ends_s.iter().map(|s| format!("{s:?}")));
        list(&mut text, "read_pages", &self.windows.read_pages);
        list(&mut text, "write_pages", &self.windows.write_pages);
        for (name, side) in [("reads", &self.reads), ("writes", &self.writes)] {
            if let Some(side) = side {
                side.write(&mut text, name);
            }
        }
        text
    }
}

impl SideConfig {
    fn write(&self, text: &mut String, name: &str) {
        let Self { requests, bytes, pages, .. } = self;
        let _ = writeln!(text, "\n[statistics.{name}]\nrequests = {requests}\nbytes = {bytes}");
        let _ = writeln!(text, "{:<40} # different pages", format!("pages = {pages}"));
        list(text, "percentiles", self.percentiles.iter().map(|p| format!("{p:?}")));
        text.push_str(
            "# accesses: number of requests that touch a page; each value is a percentile over the \
             pages.\n# sizes: number of bytes of a request; each value is a percentile over the \
             requests.\n",
        );
        list(text, "accesses", &self.accesses);
        list(text, "sizes", &self.sizes);
    }
}

/// Length of the longest line of the file, in characters.
const WIDTH: usize = 120;

/// Writes a list of values. A list that does not fit on one line is written on several lines.
fn list(text: &mut String, name: &str, values: impl IntoIterator<Item = impl Display>) {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    let line = format!("{name} = [{}]\n", values.join(", "));
    if line.len() <= WIDTH {
        text.push_str(&line);
        return;
    }
    let _ = write!(text, "{name} = [");
    let mut width = WIDTH;
    for value in values {
        if width + value.len() + 2 > WIDTH {
            text.push_str("\n   ");
            width = 3;
        }
        width += value.len() + 2;
        let _ = write!(text, " {value},");
    }
    text.push_str("\n]\n");
}

#[cfg(test)]
mod tests {
    use super::super::statistics_config::{StatisticsFile, WindowsConfig};
    use super::*;

    #[test]
    fn written_text_reads_back() {
        let side = SideConfig {
            requests: 2,
            bytes: 8192,
            pages: 2,
            percentiles: vec![0.1, 50.0, 100.0],
            accesses: vec![1, 1, 1],
            sizes: vec![4096, 4096, 4096],
        };
        let ends: Vec<f64> = (1..60).map(|i| f64::from(i) * 1799.25).collect();
        let mut pages = vec![0; 59];
        pages[7] = 2;
        let config = StatisticsConfig {
            disk: "a \"disk\"".into(),
            footprint_pages: 2,
            scale: 0.1,
            queue_depth: Some(3),
            windows: WindowsConfig { ends_s: ends, read_pages: vec![0; 59], write_pages: pages },
            writes: Some(side),
            ..StatisticsConfig::blank()
        };
        let text = config.to_file_text("it's a test");
        let file = StatisticsFile::parse(&text).unwrap();
        assert_eq!((file.description.as_str(), file.statistics), ("it's a test", config));
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    }
}
