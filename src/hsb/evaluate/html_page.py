"""The frame of every page: plain HTML without external files, for light and dark screens."""

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fdfdfb; --line: #d5d5cf; --soft: #5d5d58; --panel: #f4f4ef;
  --good: #176b3a; --bad: #a3201f; --even: #6b5a00 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e1; --paper: #17181a; --line: #3b3d40; --soft: #a3a39c; --panel: #212326;
    --good: #6fce94; --bad: #ff8d85; --even: #e0c766 }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 66rem; margin: 2rem auto; padding: 0 1rem }
body, summary, figcaption, dd { overflow-wrap: anywhere }
h1, h2, h3 { line-height: 1.2 } h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.5rem }
.wide { overflow-x: auto } table { border-collapse: collapse; font-size: 0.92em; margin: 0.6rem 0 1.4rem }
caption { text-align: left; font-weight: 600; padding-bottom: 0.3rem }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--line) }
td, .numbers { font-variant-numeric: tabular-nums } small, figcaption { color: var(--soft) }
.holds { color: var(--good) } .fails { color: var(--bad) } .tie { color: var(--even) } .verdict { font-weight: 600; white-space: nowrap }
figure { margin: 1.5rem 0 } .picture { overflow-x: auto }
figure svg { max-width: 100%; height: auto; background: white; border-radius: 4px }
pre { overflow-x: auto; font-size: 0.85em } a { color: inherit }
.reduced { border: 1px solid var(--even); border-left-width: 6px; border-radius: 4px; padding: 0.6rem 1rem; background: var(--panel) }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 0.8rem; margin: 1rem 0 }
.card { display: flex; flex-direction: column; gap: 0.5rem; justify-content: space-between; border: 1px solid var(--line); border-radius: 6px;
  padding: 0.8rem; text-decoration: none; background: var(--panel) } .card:hover b { text-decoration: underline }
.bar { display: flex; gap: 2px; height: 0.6rem } .bar i { background: currentColor; border-radius: 2px }
.card small span { white-space: nowrap }
details { margin: 0.8rem 0; border: 1px solid var(--line); border-radius: 6px; padding: 0 0.8rem }
summary { cursor: pointer; padding: 0.6rem 0; font-weight: 600 }
.claim { display: grid; grid-template-columns: 8.5rem minmax(0, 1fr) minmax(0, 17rem); gap: 0 1.2rem;
  border-top: 1px solid var(--line); padding: 0.6rem 0 }
.claim p { margin: 0 0 0.3rem } .claim dl { margin: 0; font-size: 0.88em } .claim dt { color: var(--soft) } .claim dd { margin: 0 0 0.2rem }
@media (max-width: 44rem) {
  .claim { display: block } .picture svg { max-width: none; width: 41rem }
  .rows, .rows tbody, .rows tr, .rows td, .rows caption { display: block } .rows thead { display: none }
  .rows tr { border: 1px solid var(--line); border-radius: 6px; padding: 0.4rem 0.8rem; margin: 0.6rem 0 }
  .rows td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: 0.1rem 0; text-align: right }
  .rows td { overflow-wrap: normal } .rows td:first-child { font-weight: 600; text-align: left; justify-content: flex-start; gap: 0.4rem }
  .picture + figcaption::before { content: "Swipe the figure sideways to see all of it. " }
  .rows td[data-name]::before { content: attr(data-name); color: var(--soft); font-weight: 400; text-align: left; flex: 0 1 auto }
  .rows td:first-child::before { flex: none }
}
"""


def document(title: str, inside: str) -> str:
    """Return a whole page; `inside` is HTML, `title` is text.

    >>> document("a < b", "<p>1</p>").count("a &lt; b")
    1
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{inside}\n</body></html>\n"
    )
