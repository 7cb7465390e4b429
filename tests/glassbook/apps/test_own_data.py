"""Small files written by each test: what is read, trained, saved and refused."""

import math

import pytest
import torch

from glassbook.apps.own_data import (
    CharacterGPT,
    Labeled,
    Sentence,
    SentenceIndex,
    example_files,
    fit_head,
    load_classifier,
    load_gpt,
    load_index,
    read_folder,
    read_labeled,
    read_text,
    split,
    train_classifier,
    train_gpt,
)

ROWS = Labeled(
    ["a lovely cake", "the best soup", "what a fine day", "cold and rude", "it broke", "so dirty"],
    ["good"] * 3 + ["bad"] * 3,
)


def write(folder, content, name="file.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(content.encode(encoding))
    return path


def test_the_example_files_can_be_read():
    folder = example_files()
    assert len(read_labeled(folder / "opinions.csv").texts) == 84
    assert len(read_folder(folder / "shelf")) == 144
    assert read_text(folder / "stories.txt").count("\n\n") == 599


class TestLabeled:
    def test_columns_are_read_by_name_with_commas_quotes_and_a_byte_order_mark(self, tmp_path):
        content = 'id,label,text\n1,good,"fine, really"\n2,bad,"said ""no"""\n'
        rows = read_labeled(write(tmp_path, content, encoding="utf-8-sig"))
        assert rows == Labeled(["fine, really", 'said "no"'], ["good", "bad"])

    def test_tabs_and_other_names(self, tmp_path):
        path = write(tmp_path, "review\tstars\nfine\t5\nbad, very\t1\n", "file.tsv")
        rows = read_labeled(path, text="review", label="stars")
        assert rows == Labeled(["fine", "bad, very"], ["5", "1"])

    def test_what_is_wrong_with_a_file_is_said(self, tmp_path, subtests):
        rows = [
            ("", "is empty"),
            (" \n\n", "is empty"),
            ("text,label\n", "has a header but no rows"),
            ("text,kind\nfine,good\n", r"columns \['text', 'kind'\] but lacks \['label'\]"),
            ("text,label\nfine,good\nbad\nworse,\n", "in 2 of its rows, first on line 3"),
            ("text,label\n,good\nworse,bad\n", "in 1 of its rows, first on line 2"),
            ("text,label\nfine,good\nbetter,good\n", "label 'good' in every row"),
        ]
        for content, message in rows:
            with subtests.test(message), pytest.raises(ValueError, match=message):
                read_labeled(write(tmp_path, content))

    def test_another_encoding_is_named_and_can_be_passed(self, tmp_path):
        path = write(tmp_path, "text,label\ncafé,good\ntea,bad\n", encoding="cp1252")
        with pytest.raises(ValueError, match=r"byte 14 is 0xe9.*cp1252"):
            read_labeled(path)
        assert read_labeled(path, encoding="cp1252").texts == ["café", "tea"]


class TestSplit:
    def test_each_row_goes_to_one_part_and_each_label_to_both(self):
        rows = Labeled([str(i) for i in range(17)], ["x"] * 13 + ["y"] * 4)
        train, test = split(rows, share=0.25)
        assert sorted(train.texts + test.texts) == sorted(rows.texts)
        assert (test.labels.count("x"), test.labels.count("y")) == (3, 1)
        by_text = dict(zip(rows.texts, rows.labels, strict=True))
        assert [by_text[text] for text in train.texts] == train.labels

    def test_the_seed_decides(self):
        assert split(ROWS, share=0.5, seed=1) == split(ROWS, share=0.5, seed=1)
        assert len({split(ROWS, share=0.5, seed=seed)[1].texts[0] for seed in range(9)}) > 1

    def test_a_label_with_one_row_and_a_share_out_of_range_are_refused(self):
        with pytest.raises(ValueError, match="label 'y' has only one row"):
            split(Labeled(["a", "b", "c"], ["x", "x", "y"]))
        for share in [0.0, 1.0, -0.1]:
            with pytest.raises(ValueError, match="must be between 0 and 1"):
                split(ROWS, share=share)


class TestClassifier:
    def test_the_head_separates_what_can_be_separated(self):
        vectors = torch.tensor([[1.0, 0, 0], [0.9, 0.1, 0], [0, 1, 0], [0, 0, 1]])
        head = fit_head(vectors, ["b", "b", "a", "c"])
        assert head(vectors).argmax(-1).tolist() == [1, 1, 0, 2]

    def test_a_frozen_body_stays_and_a_whole_model_is_trained(self):
        torch.manual_seed(0)
        frozen, whole = (train_classifier(ROWS, whole=each, epochs=1) for each in (False, True))
        assert frozen.predict(ROWS.texts) == ROWS.labels
        before, after = (each.encoder.layers[0].attention.q_proj.weight for each in (frozen, whole))
        assert not before.equal(after)
        assert not whole.training

    def test_what_is_saved_answers_the_same(self, tmp_path, subtests):
        for whole in [False, True]:
            with subtests.test(whole=whole):
                torch.manual_seed(0)
                model = train_classifier(ROWS, whole=whole, epochs=1)
                model.save(tmp_path / "model")
                again = load_classifier(tmp_path / "model")
                batch = {"input_ids": torch.tensor([[101, 2051, 10029, 102]])}
                batch["attention_mask"] = torch.ones_like(batch["input_ids"])
                assert again(**batch).equal(model(**batch))
                assert again.labels == ["bad", "good"]
                size = (tmp_path / "model" / "model.safetensors").stat().st_size
                assert (size > 10_000_000) is whole

    def test_an_empty_folder_is_refused(self, tmp_path):
        for read in (load_classifier, load_gpt, load_index):
            with pytest.raises(ValueError, match="save a model there first"):
                read(tmp_path)


class TestGPT:
    TEXT = "abcab" * 40

    def test_it_learns_a_pattern_and_writes_it(self):
        torch.manual_seed(0)
        model, losses = train_gpt(self.TEXT, steps=60, d_model=16, num_layers=1, context=11)
        assert len(losses) == 60
        assert losses[0] == pytest.approx(math.log(3), abs=0.3)
        assert model.loss(self.TEXT) < 0.5
        written = model.write("ab", 30, temperature=0.05)
        assert len(written) == 32
        assert "bcab" in written

    def test_what_is_saved_writes_the_same(self, tmp_path):
        model, _ = train_gpt(self.TEXT, steps=2, d_model=16, num_layers=1, context=11)
        model.save(tmp_path)
        again = load_gpt(tmp_path)
        assert again.loss(self.TEXT) == model.loss(self.TEXT)

    def test_a_text_that_is_too_short_is_refused(self):
        with pytest.raises(ValueError, match="text of 5 characters is shorter than a window of 12"):
            train_gpt("abcab", steps=1, context=11)
        model = CharacterGPT("abc", d_model=16, num_layers=1, context=11)
        with pytest.raises(ValueError, match="text of 11 characters is shorter"):
            model.loss("abcabcabcab")
        assert model.loss("abcabcabcabc") > 0

    def test_unknown_characters_and_an_empty_prompt_are_refused(self):
        model = CharacterGPT("abc", d_model=16, num_layers=1)
        with pytest.raises(
            ValueError, match=r"characters \['x', 'z'\] were not in the training text"
        ):
            model.write("xaz")
        with pytest.raises(ValueError, match="at least one character"):
            model.write("")

    def test_an_empty_file_and_another_encoding_are_refused(self, tmp_path):
        with pytest.raises(ValueError, match="is empty"):
            read_text(write(tmp_path, "\n"))
        with pytest.raises(ValueError, match="not in utf-8"):
            read_text(write(tmp_path, "é", encoding="cp1252"))
        assert read_text(write(tmp_path, "é\n")) == "é\n"


class TestSearch:
    def test_sentences_of_all_files_in_order(self, tmp_path):
        write(tmp_path, "Two cats. Are they asleep?\nYes!", "b.txt")
        write(tmp_path, "One dog.\n", "a.txt")
        write(tmp_path, "Not read.", "c.md")
        assert read_folder(tmp_path) == [
            Sentence("a.txt", "One dog."),
            Sentence("b.txt", "Two cats."),
            Sentence("b.txt", "Are they asleep?"),
            Sentence("b.txt", "Yes!"),
        ]

    def test_the_nearest_comes_first_and_again_after_saving(self, tmp_path):
        texts = ["Interest rates fell.", "The kitten sleeps.", "Rain is likely."]
        index = SentenceIndex([Sentence("a.txt", text) for text in texts])
        found = index.search("What does the cat do?", 2)
        assert found[0][1].text == texts[1]
        assert [score for score, _ in found] == sorted((s for s, _ in found), reverse=True)
        index.save(tmp_path)
        assert load_index(tmp_path).search("What does the cat do?", 2) == found

    def test_no_folder_no_file_and_an_empty_file_are_refused(self, tmp_path):
        with pytest.raises(ValueError, match="is not a folder"):
            read_folder(tmp_path / "nowhere")
        with pytest.raises(ValueError, match=r"no file that matches '\*.txt'"):
            read_folder(tmp_path)
        write(tmp_path, "", "a.txt")
        with pytest.raises(ValueError, match=r"a.txt is empty"):
            read_folder(tmp_path)
