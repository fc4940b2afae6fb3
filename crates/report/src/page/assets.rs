//! Style sheet and script, which the HTML file of the page contains.

/// Style sheet of the page.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Script of the page, joined from several files. All these files share one scope.
pub(crate) const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("base.js"),
    include_str!("crosshair.js"),
    include_str!("dose.js"),
    include_str!("save.js"),
    include_str!("app.js"),
    "})();\n"
);
