"""What the finished page leaves out, no reader sees."""

from glassbook.site.finish.typesetting import plain_code, without_indents


def test_names_and_spaces_in_code_are_text_and_other_kinds_of_code_keep_their_color():
    code = '<span class="k">def</span><span class="w"> </span><span class="nf">f</span>'
    code += '<span class="p">(</span><span class="n">x</span><span class="p">)</span>'
    assert plain_code(code) == (
        '<span class="k">def</span> <span class="nf">f</span>'
        '<span class="p">(</span>x<span class="p">)</span>'
    )


def test_a_name_that_is_a_link_stays_an_element():
    link = '<a class="symbol" href="#f"><span class="n">f</span></a>'
    assert plain_code(link) == link


def test_indents_go_around_the_text_and_stay_in_it():
    text = "<article>\n<pre>  a\n    b</pre>\n</article>"
    page = f"<head>\n\n    <title>A</title>\n</head>\n  {text}\n\n  </body>"
    tight = f"<head>\n <title>A</title>\n </head>\n {text}\n </body>"
    assert without_indents(page) == tight
    assert without_indents("<p>\n  without\n") == "<p>\n without\n "
