//! Sections of the page. A section has markup, and the numbers that the script of the page needs.

use serde_json::Value;

use crate::svg::{escape, shown};

/// Entry for the data of the page: its key and its numbers.
pub type Entry = (&'static str, Value);

/// Section of the page.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Markup of the section, from `<section>` to `</section>`.
    pub html: String,
    /// Entries that the section adds to the data of the page, by key. The script reads them from
    /// `#data`.
    pub data: Vec<Entry>,
}

/// Figure of the page.
pub struct Figure<'a> {
    /// Value of `id` for the section. The names of saved files contain it.
    pub id: &'a str,
    /// Heading of the figure, as plain text.
    pub title: &'a str,
    /// Sentences below the heading of the figure, as markup.
    pub say: String,
    /// Drawing of the figure, as markup.
    pub body: String,
    /// Source of the numbers, as plain text.
    pub source: &'a str,
    /// Table of the numbers, as markup.
    pub table: String,
}

impl Figure<'_> {
    /// Returns the section that shows the figure. `data` has the entries for the page's data.
    pub fn section(self, data: Vec<Entry>) -> Section {
        let Figure { id, say, body, .. } = &self;
        let (title, foot) = (escape(self.title), foot(self.source, &self.table));
        let html = format!(
            "<section id=\"{id}\" class=\"fig\" aria-labelledby=\"{id}-h\"><h2 id=\"{id}-h\">\
             {title}</h2><p class=\"say\">{say}</p>{body}{foot}</section>"
        );
        Section { html, data }
    }
}

/// Returns a section that explains why a figure is missing on the page.
pub fn absent(id: &str, title: &str, why: &str) -> Section {
    let (title, why) = (escape(title), escape(why));
    let html = format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-h\"><h2 id=\"{id}-h\">{title}</h2>\
         <p class=\"say\">{why}</p></section>"
    );
    Section { html, data: vec![] }
}

/// Returns a section that explains why a figure of the timed gear is missing. `what` names the
/// thing that only this gear has, and `file` the file without which the timed gear has no figure.
pub fn untimed(id: &str, title: &str, gear: &str, what: &str, file: &str) -> Section {
    let why = match gear {
        "timed" => format!("the folder has no {file}"),
        gear => format!("only the timed gear has {what}, and these runs are {gear}"),
    };
    absent(id, title, &format!("This chart is absent: {why}."))
}

/// Returns the line below a figure. The line has the source of the numbers, buttons for saving the
/// figure, and a table of the numbers. `source` is plain text, and `table` is markup.
pub fn foot(source: &str, table: &str) -> String {
    format!(
        "<div class=\"foot\"><span class=\"src\">{}</span><span class=\"acts\">{}</span>\
         <details class=\"num\"><summary>Numbers</summary>{table}</details></div>",
        escape(source),
        ["svg", "png", "csv"].map(button).concat()
    )
}

/// Returns charts with a slider, which the script connects to the lines [`crate::chart::CROSS`].
/// `kind` is the key of the numbers in the data of the page. The slider has positions from 0 to
/// `most`. `label` names what the slider chooses.
pub fn scrubbed(kind: &str, charts: &str, (first, most): (usize, usize), label: &str) -> String {
    format!(
        "<div class=\"chart\" data-k=\"{kind}\">{charts}<input class=\"scrub\" type=\"range\" \
         min=\"0\" max=\"{most}\" value=\"{first}\" aria-label=\"{label}\"><p class=\"read\" \
         aria-live=\"polite\"></p></div>"
    )
}

/// Returns the section of a table, with a button for saving the numbers of the table. `say` is
/// plain text, and `table` is markup.
pub fn of_table(title: &str, say: &str, table: &str, data: Entry) -> Section {
    let html = format!(
        "<section id=\"table\" class=\"fig\" aria-labelledby=\"table-h\"><h2 id=\"table-h\">{title}\
         </h2><p class=\"say\">{say}</p>{table}<div class=\"foot\"><span class=\"src\"></span>\
         <span class=\"acts\">{}</span></div></section>",
        button("csv")
    );
    Section { html, data: vec![data] }
}

fn button(kind: &str) -> String {
    let name = kind.to_uppercase();
    format!(
        "<button type=\"button\" data-save=\"{kind}\" aria-label=\"Save as {name}\">{name}</button>"
    )
}

/// Returns a text that begins with a capital letter.
pub fn capitalised(mut text: String) -> String {
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// Returns the numbers of a figure as an entry for the data of the page. The script saves this
/// entry as a CSV file.
pub fn csv(id: &str, heading: &[&str], rows: &[Vec<String>]) -> Entry {
    let heading = heading.iter().map(|name| shown(name)).collect();
    let rows = rows.iter().map(|row| row.iter().map(|cell| shown(cell)).collect());
    let text = crate::csv::text(&std::iter::once(heading).chain(rows).collect::<Vec<_>>());
    let mut of_figure = serde_json::Map::new();
    of_figure.insert(id.into(), text.into());
    ("csv", Value::Object(of_figure))
}

/// Formats a number for a CSV file. Without a number, the text is empty.
pub fn raw(number: Option<f64>) -> String {
    number.map_or_else(String::new, |n| n.to_string())
}

/// Returns the name of a technique as markup for use in a sentence.
pub fn code(name: &str) -> String {
    format!("<code>{}</code>", escape(name))
}

/// Returns a value as bold markup for use in a sentence.
pub fn bold(value: &str) -> String {
    format!("<b>{}</b>", escape(value))
}
