//! Sections of the page. A section has markup, and the numbers that the script of the page needs.

use serde_json::Value;

use crate::svg::{escape, shown};

/// Section of the page.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Markup of the section, from `<section>` to `</section>`.
    pub html: String,
    /// Entries that the section adds to the data of the page, by key. The script reads them from
    /// `#data`.
    pub data: Vec<(&'static str, Value)>,
}

/// Head of a figure: its `id`, its title and its sentences.
pub struct Head<'a> {
    /// Value of `id` for the section. The names of saved files contain it.
    pub id: &'a str,
    /// Heading of the figure, as plain text.
    pub title: &'a str,
    /// Sentences below the heading of the figure, as markup.
    pub say: &'a str,
}

/// Returns a section that shows a figure. `body` and `foot` are markup.
pub fn figure(head: &Head, body: &str, foot: &str) -> String {
    let Head { id, title, say } = head;
    let title = escape(title);
    format!(
        "<section id=\"{id}\" class=\"fig\" aria-labelledby=\"{id}-h\"><h2 id=\"{id}-h\">{title}\
         </h2><p class=\"say\">{say}</p>{body}{foot}</section>"
    )
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

/// Returns the line below a figure. The line has the source of the numbers, buttons for saving the
/// figure, and a table of the numbers. `source` is plain text, and `table` is markup.
pub fn foot(source: &str, table: &str) -> String {
    let button = |kind: &str, name: &str| {
        format!(
            "<button type=\"button\" data-save=\"{kind}\" aria-label=\"Save as {name}\">{name}\
             </button>"
        )
    };
    let buttons = [("svg", "SVG"), ("png", "PNG"), ("csv", "CSV")].map(|(k, n)| button(k, n));
    format!(
        "<div class=\"foot\"><span class=\"src\">{}</span><span class=\"acts\">{}</span>\
         <details class=\"num\"><summary>Numbers</summary>{table}</details></div>",
        escape(source),
        buttons.concat()
    )
}

/// Returns the line below a table, with a button for saving the numbers of the table.
pub fn foot_of_table() -> &'static str {
    "<div class=\"foot\"><span class=\"src\"></span><span class=\"acts\"><button type=\"button\" \
     data-save=\"csv\" aria-label=\"Save as CSV\">CSV</button></span></div>"
}

/// Returns the numbers of a figure as an entry for the data of the page. The script saves this
/// entry as a CSV file.
pub fn csv(id: &str, heading: &[&str], rows: &[Vec<String>]) -> (&'static str, Value) {
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
