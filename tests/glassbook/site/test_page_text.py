"""A page's front matter, headings, fences and prose are read as MkDocs and the engine read them."""

from glassbook.site.page_text import read_lab, read_page

PAGE = """\
---
title: A title
api: [one.two]
---

```text
# no heading
```

# A heading

A sentence.

<!--
a comment
-->

    ```python title="x"
    seven = 7
    ```

Another one.
"""


def test_front_matter_headings_fences_and_prose():
    text = read_page(PAGE)
    assert text.meta == {"title": "A title", "api": ["one.two"]}
    assert text.title == "A title"
    assert text.heading == "A heading"
    assert [fence.code for fence in text.fences] == ["seven = 7"]
    lines = [line for line in text.prose.split("\n") if line]
    assert lines == ["# A heading", "A sentence.", "Another one."]


def test_a_page_that_gives_no_title_has_that_of_its_heading():
    assert read_page("# A heading\n").title == "A heading"
    assert read_page("A sentence.\n").title == ""


def test_a_lab_is_read_as_the_page_that_it_could_be():
    lab = "# %% [markdown]\n# # A lab\n#\n# A sentence.\n\n# %%\n# # A comment\nseven = 7\n"
    text = read_lab(lab)
    assert text.title == "A lab"
    assert text.prose.split() == ["#", "A", "lab", "A", "sentence."]
    assert [fence.code for fence in text.fences] == ["# # A comment\nseven = 7"]
