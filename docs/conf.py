"""Sphinx: how the site is made of these pages (`make docs`). Nothing is fetched, neither when it is built nor when it is read."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_tools"))
sys.path.insert(0, str(HERE.parent / "src"))

import docstrings
import made
import public

import hsb

project = "hsb"
version = release = hsb.__version__
author = copyright = "the hsb authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_design", "sphinx_copybutton"]
exclude_patterns = [
    "_tools",
    "_static",
    "_made/scripts",
    "gallery/*",
    "README.md",
    "**/.ipynb_checkpoints",
    "**/sg_execution_times*",
    "sg_execution_times*",
]
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 4
default_role = "code"
highlight_language = "none"  # blocks say what they are; drawings are text
pygments_style = "friendly"
suppress_warnings = ["config.cache"]  # functions among the gallery's settings

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures with names and defaults; what they take is said in words
python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "hsb"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "hsb"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "pygments_light_style": "github-light-high-contrast",
    "pygments_dark_style": "github-dark-high-contrast",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

if made.everything(HERE):  # pages and pictures that each build makes; True if there are scripts in the gallery
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = made.gallery(HERE)


def setup(app):
    """Docstrings are Markdown as far as they are anything; every public name must have arrived in the reference."""
    app.connect("autodoc-process-docstring", docstrings.to_rst)
    app.connect("autodoc-skip-member", docstrings.skip)
    app.connect("env-check-consistency", public.check)
