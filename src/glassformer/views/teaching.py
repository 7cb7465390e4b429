"""`teacher_forcing`: one pass in training, compared with one pass per word in generation."""

from collections.abc import Sequence
from itertools import pairwise

from glassformer.views.drawing import CHIP, arrow, chip, cut, figure, line, picture, text, width_of
from glassformer.views.view import View, words

ROW, LONGEST = 34.0, 10
READS, ANSWERS = 26.0, 110.0  # the tops of the two rows in training
LEFT = 80.0
PAST = "thin: earlier words, which each position also sees"


def teacher_forcing(
    given: Sequence[object], wanted: Sequence[object], *, caption: str | None = None
) -> View:
    """Draw how a decoder is trained on a text, and how it writes the same text.

    In training, it reads the true words all at once. At each position, it predicts the next word
    from all words up to there: thin lines come from the earlier ones. In generation, it reads the
    words that it has written, and each new word takes one pass.

    Args:
        given: The words that the decoder reads.
        wanted: For each of them, the word that comes next.
        caption: A line below the picture.

    Raises:
        ValueError: There are no words, or `given` and `wanted` differ in length.
    """
    read, asked = words(given), words(wanted)
    if not read or len(read) != len(asked):
        raise ValueError(
            f"{len(read)} words given and {len(asked)} wanted: each given word needs a next word"
        )
    places = [LEFT]
    for one, other in zip(read, asked, strict=True):
        longest = max(width_of(cut(name, LONGEST)) for name in (one, other))
        places.append(places[-1] + max(34.0, longest + 16) + 6)
    parts = [
        text(0, 14, "Training: the true words, in one pass", css="title", anchor="start"),
        text(LEFT - 10, READS + 18, "it reads", anchor="end"),
        text(LEFT - 10, ANSWERS + 18, "it answers", anchor="end"),
    ]
    middles = [(here + after - 6) / 2 for here, after in pairwise(places)]
    for k, middle in enumerate(middles):
        end = (middle, ANSWERS - 2)
        parts += [line([(x, READS + CHIP + 2), end], role="quiet", css="base") for x in middles[:k]]
    for k, (one, other) in enumerate(zip(read, asked, strict=True)):
        x, wide = places[k], places[k + 1] - places[k] - 6
        parts.append(chip(one, x, READS, wide, role="encoder", most=LONGEST))
        parts.append(arrow([(middles[k], READS + CHIP + 2), (middles[k], ANSWERS - 2)]))
        parts.append(chip(other, x, ANSWERS, wide, role="decoder", most=LONGEST))
    parts.append(text(LEFT, ANSWERS + CHIP + 16, PAST, css="small", anchor="start"))
    top = ANSWERS + CHIP + 50
    many = f"Writing: its own words, in {len(read)} passes"
    parts.append(text(0, top, many, css="title", anchor="start"))
    for k in range(len(read)):
        y = top + 12 + ROW * k
        parts.append(text(LEFT - 10, y + 18, f"pass {k + 1}", anchor="end"))
        for i in range(k + 1):
            word, role = (read[0], "encoder") if i == 0 else (asked[i - 1], "decoder")
            wide = places[i + 1] - places[i] - 6
            parts.append(chip(word, places[i], y, wide, role=role, most=LONGEST))
        x = places[k + 1]
        parts.append(arrow([(x - 4, y + 13), (x + 12, y + 13)]))
        wide = width_of(cut(asked[k], LONGEST)) + 16
        parts.append(chip(asked[k], x + 14, y, wide, role="decoder", most=LONGEST, bold=True))
    across = places[-1] + 15 + width_of(cut(asked[-1], LONGEST)) + 16
    drawn = picture(parts, across, top + 18 + ROW * len(read))
    facts = [
        [f"training, place {k}", " ".join(read[:k]), other] for k, other in enumerate(asked, 1)
    ]
    facts += [
        [f"writing, pass {k + 1}", " ".join([read[0], *asked[:k]]), asked[k]]
        for k in range(len(read))
    ]
    name = "Training and writing"
    return figure(drawn, ["", "it sees", "it answers"], facts, name=name, caption=caption)
