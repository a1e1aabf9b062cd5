"""The look of pictures: the one style sheet of all of them, light and dark.
A picture by itself follows the system; a page that lets people choose puts `light` or `dark` on it."""

_LIGHT = """--ink: #1f2933; --faint: #697586; --paper: #ffffff; --box: #f7f8fa; --edge: #cdd5df; --flow: #2563eb;
  --decide: #b45309; --rows: #7b8794; --added: #15803d; --removed: #b91c1c; --changed: #7e22ce; --frame: #f0f4fa"""
_DARK = """--ink: #e6e9ee; --faint: #9aa5b1; --paper: #14171c; --box: #20252c; --edge: #3d4753; --flow: #6ea8fe;
  --decide: #f0a93b; --rows: #8a97a6; --added: #4ade80; --removed: #f87171; --changed: #c084fc; --frame: #1a1f26"""

STYLE = f"""
.hw {{ {_LIGHT}; font-family: Helvetica, Arial, sans-serif; font-size: 12px; }}
@media (prefers-color-scheme: dark) {{ .hw:not(.light) {{ {_DARK}; }} }}
.hw.dark {{ {_DARK}; }}
.hw .paper {{ fill: var(--paper); }} .hw .frame {{ fill: var(--box); stroke: var(--edge); }}
.hw text {{ fill: var(--ink); }} .hw .title {{ font-weight: bold; font-size: 13px; }}
.hw .rule {{ stroke: var(--edge); }} .hw .group {{ fill: var(--frame); stroke: var(--edge); stroke-dasharray: 3 3; }}
.hw .label, .hw .more, .hw .fold {{ fill: var(--faint); }} .hw .label {{ font-size: 12px; letter-spacing: .04em; }}
.hw .badge rect {{ fill: var(--paper); stroke: var(--edge); }}
.hw .badge text {{ fill: var(--faint); font-size: 12px; text-anchor: middle; }}
.hw .kind {{ fill: var(--edge); }} .hw .view .kind {{ fill: var(--changed); opacity: .55; }}
.hw .file .kind, .hw .topic .kind {{ fill: var(--decide); opacity: .6; }}
.hw path.line {{ fill: none; stroke-width: 1.4; opacity: .8; }}
.hw .value {{ stroke: var(--flow); }} .hw .condition {{ stroke: var(--decide); stroke-dasharray: 6 4; }}
.hw .row {{ stroke: var(--rows); stroke-dasharray: 2 4; }} .hw path.doubtful {{ opacity: .45; }}
.hw path.faint {{ opacity: .3; stroke-width: 1; }} .hw .many > .frame {{ stroke-dasharray: 4 3; }}
.hw path.line:hover {{ stroke-width: 3; opacity: 1; }}
.hw .focus > .frame {{ stroke: var(--flow); stroke-width: 2; }}
.hw .focus > .kind {{ fill: var(--flow); opacity: 1; }}
.hw path.added {{ stroke: var(--added); stroke-width: 2; }} .hw path.removed {{ stroke: var(--removed); }}
.hw path.changed {{ stroke: var(--changed); stroke-width: 2; }}
.hw .box.added > .frame {{ stroke: var(--added); stroke-width: 2; }}
.hw .box.changed > .frame {{ stroke: var(--changed); stroke-width: 2; }}
.hw .box.removed > .frame {{ stroke: var(--removed); stroke-dasharray: 5 4; }}
.hw text.added {{ fill: var(--added); }} .hw text.removed {{ fill: var(--removed); text-decoration: line-through; }}
"""
