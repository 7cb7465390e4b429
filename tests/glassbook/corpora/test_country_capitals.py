"""Countries and capitals are the facts that they should be."""

from glassbook.corpora.country_capitals import REGIONS


def test_each_region_has_eight_countries_and_none_is_named_twice():
    entries = [region.split(", ") for region in REGIONS]
    assert {len(region) for region in entries} == {8}
    words = [word for region in entries for entry in region for word in entry.split()]
    assert [word for word in words if not word[0].isupper()] == []
    assert sorted(word for word in {*words} if words.count(word) > 1) == []
