"""Each repair of the theme mends what it was made for, or says that it is not there."""

import pytest
from mkdocs.exceptions import PluginError

from glassbook.site.finish.assets import StyleSheets
from glassbook.site.finish.theme import (
    COSTLY,
    SCRIPT,
    TEMPLATES,
    UNUSED,
    Repairs,
    repair_script,
)
from glassbook.site.finish.typesetting import wrapped

PAGE = f"<p{' '.join(TEMPLATES)}>"
SHEET = (
    "a{}[data-md-color-switching] *{x:y}.md-typeset .no-js .tabbed-set>input{x:y}"
    ".md-typeset table:not([class])+*{x:y}b{}"
    + "".join(f"c {part}x>:is(d,e:not(f,g)),h{{x:y}}" for part in UNUSED)
)
MENDED = "a{}b{}" + "h{x:y}" * len(UNUSED)


def test_what_is_there_is_mended():
    repairs = Repairs()
    html = repairs.page(PAGE)
    assert not [said for said in TEMPLATES if said in html and said not in TEMPLATES[said]]
    assert 'aria-label="Search"' in html
    assert repairs.sheet(SHEET) == MENDED
    repairs.check()


@pytest.mark.parametrize("missing", TEMPLATES)
def test_a_repair_of_pages_that_finds_nothing_is_named(missing):
    repairs = Repairs()
    repairs.sheet(SHEET)
    repairs.page(PAGE.replace(missing, ""))
    with pytest.raises(PluginError, match="left to repair") as raised:
        repairs.check()
    assert str(raised.value).endswith(f"here:\n  {missing}")


def test_rules_that_are_not_there_are_named():
    repairs = Repairs()
    repairs.page(PAGE)
    with pytest.raises(PluginError, match="left to repair") as raised:
        repairs.check()
    assert str(raised.value).split("\n  ")[1:] == [*COSTLY, *UNUSED]


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        (".md-tabs{a:b}", ""),
        (".md-tabs{a:b}.md-tab{c:d}", ".md-tab{c:d}"),
        ("a,.md-tabs b,c{d:e}", "a,c{d:e}"),
        ("a:is(b,.md-tabs),c{d:e}", "c{d:e}"),
        ("@media print{.md-tabs{a:b}c{d:e}}", "@media print{c{d:e}}"),
        ("a{b:c;d:url(.md-tabs)}", "a{b:c;d:url(.md-tabs)}"),
        ("/* .md-tabs, */ a{b:c}", "/* .md-tabs, */ a{b:c}"),
    ],
)
def test_rules_for_what_no_page_has_are_left_out(rules, left):
    assert Repairs().sheet(rules) == left


def test_a_table_comes_in_its_frame():
    table = "<table><tr><td>1</td></tr>\n</table>"
    framed = '<div class="md-typeset__scrollwrap"><div class="md-typeset__table">'
    assert wrapped(f"a{table}b{table}<table class='c'></table>") == (
        f"a{framed}{table}</div></div>b{framed}{table}</div></div><table class='c'></table>"
    )


def test_the_script_is_mended_where_it_does_once_what_is_not_wanted(tmp_path):
    theme, site = tmp_path / "theme/assets/javascripts", tmp_path / "site/assets/javascripts"
    theme.mkdir(parents=True)
    site.mkdir(parents=True)
    (theme / "bundle.1a.min.js").write_text(f"a();{';'.join(SCRIPT)}b()")
    themes = [str(tmp_path / "overrides"), str(tmp_path / "theme")]
    for _ in range(2):  # a server does it again and again
        repair_script(themes, tmp_path / "site")
        mended = (site / "bundle.1a.min.js").read_text()
        assert mended == f"a();{';'.join(SCRIPT.values())}b()"
    (theme / "bundle.1a.min.js").write_text("a();b()")
    with pytest.raises(PluginError, match=r"does not occur exactly once in bundle\.1a\.min\.js"):
        repair_script(themes, tmp_path / "site")


def test_a_script_that_is_not_there_is_missed(tmp_path):
    with pytest.raises(PluginError, match=r"in no bundle\.\*\.js of the theme"):
        repair_script([str(tmp_path)], tmp_path)


def test_sheets_are_joined_in_their_order_and_lead_where_they_led(tmp_path):
    (tmp_path / "assets/css").mkdir(parents=True)
    (tmp_path / "theme").mkdir()
    (tmp_path / "theme/a.css").write_text("a{src:url(x.png)}")
    (tmp_path / "assets/css/b.css").write_text('b{src:url("../y.png")}c{src:url(#d)}')
    links = [f'<link rel="stylesheet" href="../../{name}">' for name in ("theme/a.css", "e")]
    links.append('<link rel="stylesheet" href="../../assets/css/b.css">')
    html = StyleSheets(tmp_path, Repairs()).join(
        f"<head>{links[0]}\n<title></title>{links[2]}</head><body>{links[0]}", "part/page/"
    )
    [joined] = set((tmp_path / "assets/css").glob("*.css")) - {tmp_path / "assets/css/b.css"}
    assert joined.read_text() == (
        'a{src:url(../../theme/x.png)}\nb{src:url("./../y.png")}c{src:url(#d)}'
    )
    link = f'<link rel="stylesheet" href="../../assets/css/{joined.name}">\n'
    assert html == f"<head>{link}<title></title></head><body>{links[0]}"
