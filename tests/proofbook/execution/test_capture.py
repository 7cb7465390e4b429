"""Everything that a page writes is heard, in order."""


def test_every_writer_is_heard_in_order(project, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    [text] = project.shown(
        """
import ctypes, os, subprocess, sys
print("python")
os.write(1, b"descriptor\\n")
print("error", file=sys.stderr)
subprocess.run(["echo", "subprocess"])
ctypes.CDLL(None).printf(b"c %d\\n", 7)
sys.stdout.buffer.write(b"bytes\\n")
sys.stdout.write("end");
"""
    )
    assert text == "python\ndescriptor\nerror\nsubprocess\nc 7\nbytes\nend"


def test_functions_of_imported_modules_are_heard(project):
    project.write("talker.py", "def talk():\n    print('from the module')\n")
    assert project.shown("import talker\ntalker.talk()") == ["from the module\n"]


def test_a_progress_bar_leaves_its_last_state(project):
    assert project.shown("for i in range(3):\n    print(f'\\r{i}', end='')\nprint()") == ["2\n"]


def test_text_that_is_not_unicode_is_escaped(project):
    assert project.shown("import os\nos.write(1, b'\\xff');print('\\ud800')") == ["\\xff\\ud800\n"]


def test_each_block_has_its_own_text(project):
    assert project.shown("print(1)", "x = 0", "print(2)") == ["1\n", "2\n"]


def test_of_a_flood_only_the_beginning_is_read_and_nothing_of_the_next_block_is_lost(project):
    flood = (
        "import sys\nline = 'a' * 999 + '\\n'\nfor _ in range(20_000):\n    sys.stdout.write(line)"
    )
    first, second = project.shown(flood + ";", "print('next')")
    assert first == ("a" * 999 + "\n") * 100 + "\n[… cut here: 20.0 MB in all]\n"
    assert second == "next\n"


def test_a_terminal_s_commands_are_left_out_and_other_control_characters_escaped(project):
    code = r"print('\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\ttab \x00\x02\x0c\x85')"
    assert project.shown(code) == ["red plain\ttab \\x00\\x02\\x0c\\x85\n"]
