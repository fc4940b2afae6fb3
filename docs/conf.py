"""Settings of the site (`make docs`).

The source folder is target/pages: a copy of the repository's pages with the generated pages.
"""

project = "vpass"
html_title = "vpass"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "papers/*/README.md", "examples/traces/README.md"]
exclude_patterns = [".*", "crates", "presets", "target"]
myst_heading_anchors = 4
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["static"]
html_css_files = ["vpass.css"]
html_extra_path = ["redirect"]
nitpicky = True
