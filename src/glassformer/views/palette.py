"""The look of every view, in one place: color roles, type sizes, and line weights.

Colors are CSS properties, one for each role, and a role has the same color everywhere. Roles that
occur in one picture can be told apart with any kind of color vision, and each has enough contrast
for text on either background.
"""

LABEL, SMALL, TITLE = 13.0, 12.0, 13.5  # type sizes, in units of a picture
THIN, LINE, BOLD, WIDE = 1.0, 1.5, 2.2, 4.0  # line weights
RADIUS = 5.0  # of a box's corners

# Roles that occur in one picture. The first series is for a picture's main subject.
SERIES = ("series-1", "series-2", "series-3", "series-4")
GROUPS: dict[str, tuple[str, ...]] = {
    "sign": ("positive", "negative"),
    "projections": ("query", "key", "value"),
    "parts": ("attention", "feed-forward", "embedding", "stream"),
    "stacks": ("encoder", "decoder"),
    "series": SERIES,
}
ROLES: dict[str, tuple[str, str]] = {  # on a light background, and on a dark one
    "positive": ("#1f4fb5", "#7fa8f5"),
    "negative": ("#b0440b", "#ef8a4c"),
    "query": ("#9a2f86", "#ec8fd8"),
    "key": ("#00766a", "#3fc7b4"),
    "value": ("#8a6000", "#e6b43c"),
    "attention": ("#0f6c9c", "#62bdf0"),
    "feed-forward": ("#6b6a00", "#cfcb45"),
    "embedding": ("#512578", "#a081ee"),
    "stream": ("#565b64", "#a9afb9"),
    "encoder": ("#4a4fb0", "#a6a8ff"),
    "decoder": ("#a8325a", "#f590b0"),
    "series-1": ("#1f4fb5", "#7fa8f5"),
    "series-2": ("#b85600", "#f09a4c"),
    "series-3": ("#007a5e", "#45c9a0"),
    "series-4": ("#a03c8c", "#e79ad6"),
    "quiet": ("#6a6f78", "#8b929d"),
}
SURFACE = "var(--md-default-bg-color,var(--jp-layout-color0,{}))"
# Colors of cells and of bertviz's drawings, and strengths of lines that aren't selected.
SHADES: dict[str, tuple[str, str]] = {
    "pos": ("#1f4fb5", "#4a82e6"),
    "neg": ("#b0440b", "#d0601f"),
    "deep": ("#1a47a8", "#3b6dcc"),
    "cell": ("#5b86e5", "#3b6dcc"),
    "negative-cell": ("#d2722c", "#b9500f"),
    "number": ("#000", "#fff"),
    "edge": ("rgba(0,0,0,.16)", "rgba(255,255,255,.2)"),
    "hover": ("rgba(0,0,0,.1)", "rgba(255,255,255,.16)"),
    "glow": ("#7fb0f5", "#2c5cb0"),
    "brown": ("#8c564b", "#c08376"),
    "lift": ("1", "1.7"),
    "rest": (".14", ".26"),
    "ink": ("#202020", "#e2e4e9"),
    "surface": (SURFACE.format("#fff"), SURFACE.format("#181a20")),
}
VIEWS = ":is(.glassformer-drawing,glassformer-view)"


def properties(scheme: int) -> str:
    """Return the CSS declarations of a scheme: 0 is light, 1 is dark."""
    return "".join(f"--{name}:{pair[scheme]};" for name, pair in (ROLES | SHADES).items())


LIGHT, DARK = properties(0), properties(1)
# Colors follow the system's setting and the switches of Material and Jupyter; print is light.
THEME = (
    f"{VIEWS}{{{LIGHT}}}@media (prefers-color-scheme:dark){{{VIEWS}{{{DARK}}}}}"
    f":is([data-md-color-scheme=default],[data-jp-theme-light=true]) {VIEWS}{{{LIGHT}}}"
    f":is([data-md-color-scheme=slate],[data-jp-theme-light=false]) {VIEWS}{{{DARK}}}"
    f"@media print{{html body {VIEWS}{VIEWS}{{{LIGHT}}}}}"
)
# A shadow at each edge beyond which there's more of the picture to scroll to. It ends a pixel
# before its cover does, because WebKit leaves out the cover's last, broken pixel.
TALL = "calc(100% - 1px)"
SHADOWS = (
    "background:"
    "linear-gradient(to right,var(--surface) 40%,transparent) 0/24px 100% no-repeat local,"
    "linear-gradient(to left,var(--surface) 40%,transparent) 100%/24px 100% no-repeat local,"
    f"linear-gradient(to right,var(--hover),transparent) 0 0/12px {TALL} no-repeat scroll,"
    f"linear-gradient(to left,var(--hover),transparent) 100% 0/12px {TALL} no-repeat scroll"
)
