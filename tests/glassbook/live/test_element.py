"""An element says what it downloads, names the files it loads, and escapes what it's given."""

import hashlib
import json
import re
from html import unescape

from glassbook.live.element import element
from glassformer.views.view import View

TEXT = "it's \"<b>\" & 'so'"


def test_an_element_names_its_files_and_says_what_they_weigh(tmp_path):
    (graph := tmp_path / "graph.gz").write_bytes(b"seven b")
    view = element(
        "writer",
        View("<p>still</p>", "still"),
        {"name": TEXT},
        {"small.graph": graph},
        scripts={"steps": "glassformer-live-steps.js"},
        data={"text": TEXT},
        on_gpu=True,
    )
    html, files = view._repr_page_()
    assert {*re.findall(r"asset://([\w.-]+)", html)} == {*files}
    found = re.search(r'data-files="([^"]*)" data-text="([^"]*)">(.*)</glass-writer>', html)
    known = json.loads(unescape(found[1]))
    assert (known["name"], unescape(found[2]), found[3]) == (TEXT, TEXT, "<p>still</p>")
    runtime, model = known["downloads"]
    assert model["size"] == 7
    assert model["sha256"] == hashlib.sha256(b"seven b").hexdigest()
    assert view.downloads == 7 + runtime["size"]
    assert known["gpu"]["runtime"] == "asset://ort.jspi.bundle.min.mjs"
    assert known["gpu"]["download"]["name"] == "runtime-gpu.bin"
    assert str(view) == "still"
    assert view._repr_html_() == "<p>still</p>"
