"""What every page has: plain HTML that needs nothing else, by day and by night."""

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fdfdfb; --line: #d5d5cf; --soft: #5d5d58;
  --good: #176b3a; --bad: #a3201f; --even: #6b5a00 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e1; --paper: #17181a; --line: #3b3d40; --soft: #a3a39c; --good: #6fce94; --bad: #ff8d85; --even: #e0c766 }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 66rem; margin: 2rem auto; padding: 0 1rem }
h1, h2, h3 { line-height: 1.2 } h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.5rem }
.wide { overflow-x: auto } table { border-collapse: collapse; font-size: 0.92em; margin: 0.6rem 0 1.4rem }
caption { text-align: left; font-weight: 600; padding-bottom: 0.3rem }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--line) }
td { font-variant-numeric: tabular-nums } td small, p small, figcaption { color: var(--soft) }
.holds { color: var(--good) } .fails { color: var(--bad) } .tie { color: var(--even) } .verdict { font-weight: 600; white-space: nowrap }
figure { margin: 1.5rem 0 } figure svg { max-width: 100%; height: auto; background: white; border-radius: 4px }
pre { overflow-x: auto; font-size: 0.85em } a { color: inherit }
"""


def document(title: str, inside: str) -> str:
    """A whole page; `inside` is HTML, the title is text.

    >>> document("a < b", "<p>1</p>").count("a &lt; b")
    1
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{inside}\n</body></html>\n"
    )
