"""Makes stix-two-math-subset.woff2 of stix-two-math-latin-400-normal.woff2, its one argument.

Needs fonttools and brotli. The argument is in the npm package @fontsource/stix-two-math.
"""

import sys
from pathlib import Path

from fontTools.misc.transform import Scale
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter, parse_unicodes
from fontTools.ttLib import TTFont

LETTERS = "20-7E,A0,391-3A9,3B1-3C9,3D1,3D5,3F5,210E,2102,2112,2113,2115,211D,2124"
LETTERS += ",1D434-1D467,1D6E2-1D71B"  # what browsers draw for one Latin or Greek letter: italics
SIGNS = "AC,AF-B1,B7,D7,F7,2C6,2DC,302-304,2016,2026,2032,2061-2064,20D7,2190-2194,21A6,21D2"
SIGNS += ",2200,2202-2205,2207-2209,220F,2211-2213,2217,221A,221D,221E,2225,2227-222B,223C,2248"
SIGNS += ",2260,2261,2264,2265,226A,226B,2282,2286,2295,2297,2299,22A4,22A5,22C5,22EE,22EF,22F1"
SIGNS += ",2308-230B,23DE,23DF,27E8,27E9"
RADICAL = 0x221A


def subset(font: TTFont) -> None:
    """Keep the letters and signs of the book's formulas, with their stretched forms."""
    options = Options(layout_features=["ssty"], hinting=False)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=parse_unicodes(f"{LETTERS},{SIGNS}"))
    subsetter.subset(font)


def equalise_radicals(font: TTFont) -> None:
    """Bring the taller radicals to the width of the first.

    Browsers reserve the width of the widest form, which leaves a hole after a low root.
    """
    variants = font["MATH"].table.MathVariants
    name = font.getBestCmap()[RADICAL]
    construction = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(name)]
    names = [record.VariantGlyph for record in construction.MathGlyphVariantRecord]
    if construction.GlyphAssembly:
        names += [part.glyph for part in construction.GlyphAssembly.PartRecords]
    glyphs, metrics = font.getGlyphSet(), font["hmtx"]
    width = metrics[name][0]
    for other in set(names) - {name}:
        factor = width / metrics[other][0]
        pen = TTGlyphPen(glyphs)
        glyphs[other].draw(TransformPen(pen, Scale(factor, 1)))
        font["glyf"][other] = pen.glyph()
        metrics[other] = (width, round(metrics[other][1] * factor))


if __name__ == "__main__":
    font = TTFont(sys.argv[1])
    subset(font)
    equalise_radicals(font)
    font.flavor = "woff2"
    font.save(Path(__file__).with_name("stix-two-math-subset.woff2"))
