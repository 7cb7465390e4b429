"""What was printed is made fit for a page, and what is fit already stays as it is."""

from proofbook.text import encodable, readable, without_device
from tables import table


@table("text", ["", "a\tb\nc", "größer 日本語 🙂 e\u0301 \u200d אב \u2028", "[31m 1b \\x1b"])
def test_what_a_page_can_hold_stays(text):
    assert readable(text) == encodable(text) == text


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
