"""Each repair of the theme mends what it was made for, or says that it is not there."""

import pytest
from mkdocs.exceptions import PluginError

from booksite.finish.stylesheets import StyleSheets
from booksite.finish.theme import COSTLY, SECOND, TEMPLATES, Repairs, mended_page, repair_script

PAGE = f"<p{' '.join(TEMPLATES)}>"
SHEET = (
    "a{}[data-md-color-switching] *{x:y}.md-typeset .no-js .tabbed-set>input{x:y}"
    ".md-typeset table:not([class])+*{x:y}b{}"
)


def test_what_is_there_is_mended():
    repairs = Repairs()
    html, repairs.found = mended_page(PAGE)
    assert not [said for said in TEMPLATES if said in html and said not in TEMPLATES[said]]
    assert 'aria-label="Search"' in html
    assert repairs.sheet(SHEET) == "a{}b{}"
    repairs.check()


@pytest.mark.parametrize("missing", TEMPLATES)
def test_a_repair_of_pages_that_finds_nothing_is_named(missing):
    repairs = Repairs()
    repairs.sheet(SHEET)
    repairs.found += mended_page(PAGE.replace(missing, ""))[1]
    with pytest.raises(PluginError, match="left to repair") as raised:
        repairs.check()
    assert str(raised.value).endswith(f"here:\n  {missing}")


def test_rules_that_are_not_there_are_named():
    repairs = Repairs()
    repairs.found += mended_page(PAGE)[1]
    with pytest.raises(PluginError, match="left to repair") as raised:
        repairs.check()
    assert str(raised.value).split("\n  ")[1:] == list(COSTLY)


def test_the_script_is_mended_where_it_does_once_what_is_not_wanted(tmp_path):
    script = tmp_path / "bundle.1a.min.js"
    script.write_text(f"a();{SECOND};b()")
    repair_script(tmp_path)
    assert script.read_text() == 'a();x("meta",{});b()'
    with pytest.raises(PluginError, match=r"does not stand once in bundle\.1a\.min\.js"):
        repair_script(tmp_path)


def test_a_script_that_is_not_there_is_missed(tmp_path):
    with pytest.raises(PluginError, match=r"in no bundle\.\*\.js of the theme"):
        repair_script(tmp_path)


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


def test_a_page_without_style_sheets_is_not_the_themes(tmp_path):
    with pytest.raises(PluginError, match="part/page/ asks for no style sheet"):
        StyleSheets(tmp_path, Repairs()).join("<head></head><body>", "part/page/")
