"""Attention in the plane: its arrows and bars hold the numbers that torch computes."""

import math
from itertools import pairwise

import pytest
import torch
from drawings import facts, near, numbers, svgs, texts
from torch.nn.functional import scaled_dot_product_attention

from glassformer.views import attention_plane
from glassformer.views.plane import hull

THREE = ["time", "flies", "fast"]
QUERY = torch.tensor([[0.5, 1.0], [2.0, -1.0], [1.0, 0.3]])
KEY = torch.tensor([[1.0, 0.2], [-1.0, 2.0], [0.0, 1.3]])
VALUE = torch.tensor([[1.0, 1.0], [-1.0, 3.0], [0.0, -1.0]])


def parts(view):
    """The named parts of the picture."""
    return {g.get("data-part"): g for g in svgs(view)[0].iter("g") if "data-part" in g.attrib}


def written(part):
    return [text.text for text in part.iter("text")]


def two(value):
    return f"{value:.2f}".replace("-", "−")


@pytest.mark.parametrize("asks", [0, 1, 2])
def test_scores_weights_and_output_are_those_of_torch(asks):
    shown = parts(attention_plane(QUERY, KEY, VALUE, THREE, asks=asks))
    scores = (QUERY[asks] * KEY).sum(-1) / math.sqrt(2)
    output = scaled_dot_product_attention(QUERY[None], KEY[None], VALUE[None])[0, asks]
    assert written(shown["scores"]) == [two(v) for v in scores.tolist()]
    assert written(shown["weights"]) == [two(v) for v in scores.softmax(0).tolist()]
    assert written(shown["given"]) == [f"output ({two(output[0])}, {two(output[1])})"]
    widths = torch.tensor([float(bar.get("width")) for bar in shown["bars"].iter("rect")])
    assert (widths / widths.sum()).tolist() == near(*scores.softmax(0).tolist())
    assert widths.sum().item() == pytest.approx(168, abs=0.2)
    level = near(*(float(bar.get("y")) + 13 for bar in shown["bars"].iter("rect")))
    for name in ("scores", "weights"):
        assert [float(one.get("y")) for one in shown[name].iter("text")] == level


def test_a_key_meets_the_query_at_a_right_angle_and_shares_end_at_the_output():
    view = attention_plane(QUERY, KEY, VALUE, THREE, asks=1)
    shown = parts(view)
    [direction] = [numbers(path.get("d")) for path in shown["direction"].iter("path")]
    way = torch.tensor([direction[2] - direction[0], direction[3] - direction[1]])
    for foot in shown["feet"].iter("path"):
        x0, y0, x, y = numbers(foot.get("d"))
        assert abs(torch.tensor([x - x0, y - y0]) @ way / way.norm()) < 0.3
    chain = [numbers(path.get("d")) for path in shown["shares"].iter("path")]
    for before, after in pairwise(chain):
        assert before[2:] == after[:2]
    [head] = [g.get("transform") for g in shown["output"].iter("g") if g.get("transform")]
    assert chain[-1][2:] == near(*numbers(head)[:2])


def test_both_planes_have_one_scale():
    view = attention_plane(KEY, KEY, VALUE, THREE, asks=2)
    heads = [g.get("transform") for g in svgs(view)[0].iter("g") if g.get("transform")]
    tips = torch.tensor([numbers(head)[:2] for head in heads])  # keys, values, output
    unit = (tips[1] - tips[0]).norm() / (KEY[1] - KEY[0]).norm()
    assert (tips[4] - tips[3]).norm() / unit == pytest.approx(8**0.5, abs=0.02)
    [query] = parts(view)["query"].iter("path")  # of "fast": its key, which shows through here
    assert numbers(query.get("d"))[2:] == near(*tips[2].tolist())
    assert query.get("class") == "line bold dashed"


def test_the_table_has_what_the_picture_has():
    view = attention_plane(QUERY, KEY, VALUE, THREE, asks=0)
    assert [row[0] for row in facts(view)] == [*THREE, "output for time"]
    assert {"keys and a query", "values and the output"} < set(texts(view))


def test_the_hull_has_the_outer_points_only():
    square = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    assert sorted(hull([*square, (1.0, 1.0), (1.0, 0.0)])) == sorted(square)
    assert hull([(1.0, 3.0)] * 2) == [(1.0, 3.0)]
