//! Style sheet and script of the page. Both stand in the page itself.

/// Style sheet.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Script: its files share one scope of their own.
pub(crate) const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("base.js"),
    include_str!("crosshair.js"),
    include_str!("dose.js"),
    include_str!("save.js"),
    include_str!("app.js"),
    "})();\n"
);
