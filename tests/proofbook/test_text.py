"""What was printed is made fit for a page, and what is fit already stays as it is."""

from proofbook.text import LARGEST_TEXT, clipped, encodable, readable, without_device
from tables import table


@table("text", ["", "a\tb\nc", "größer 日本語 🙂 e\u0301 \u200d אב \u2028", "[31m 1b \\x1b"])
def test_what_a_page_can_hold_stays(text):
    assert readable(text) == encodable(text) == text


@table(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[1Gdone", "done"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bM\x1b", "\\x1b"),
        ("\x00\x02\x03\r\x7f\x9b", "\\x00\\x02\\x03\\r\\x7f\\x9b"),
        ("\ud83d", "\\ud83d"),
    ],
)
def test_what_no_page_can_hold_is_left_out_or_escaped(text, shown):
    assert readable(text) == shown


def test_half_a_character_in_markup_is_escaped_and_nothing_else():
    assert encodable("<b>\ud83d\x1b</b>") == "<b>\\ud83d\x1b</b>"


def test_a_text_is_cut_where_it_is_too_long_and_says_how_long_it_was():
    fits = "ä" * LARGEST_TEXT
    assert clipped(fits) == fits
    assert clipped(fits + "b" * 1_000_000) == fits + "\n[… cut here: 1.2 MB in all]\n"
    assert clipped("a", 20_000_000) == "a\n[… cut here: 20.0 MB in all]\n"


@table(
    ("text", "device", "shown"),
    [
        ("tensor([1.], device='cuda:0')", "cuda", "tensor([1.])"),
        ("tensor([1.], device='cuda:1', dtype=x)", "cuda:1", "tensor([1.], dtype=x)"),
        ("tensor([1.], device='cuda:0')", "mps", "tensor([1.], device='cuda:0')"),
        ("a device='cuda:0' of its own", "cuda", "a device='cuda:0' of its own"),
        ("tensor([1.])", "cpu", "tensor([1.])"),
    ],
)
def test_tensors_say_where_they_lie_only_if_that_is_elsewhere(text, device, shown):
    assert without_device(text, device) == shown
