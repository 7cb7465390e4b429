"""Create a small book that passes, for an author to start from."""

from pathlib import Path

import proofbook

STARTER = Path(proofbook.__file__).parent / "starter"
"""The files of the book, with `.txt` after each name, so no tool mistakes them for its own."""


def init(folder: Path) -> int:
    """Write a book into a folder, and print the next steps; return the exit status.

    Nothing is written if one of its files already exists.
    """
    texts = {
        folder / file.relative_to(STARTER).with_suffix(""): file.read_text(encoding="utf-8")
        for file in sorted(STARTER.rglob("*.txt"))
    }
    if taken := [str(file) for file in texts if file.exists() or file.is_symlink()]:
        print(
            f"{', '.join(taken)}: already there, so nothing was written. Name a new folder "
            "(proofbook init my-book); for a book you already have, put proofbook under plugins "
            "in its mkdocs.yml."
        )
        return 1
    try:
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"the book could not be written: {error}")
        return 1
    print("A book of two pages:\n")
    print("\n".join(f"  {file}" for file in texts))
    print("\nNext:\n")
    if folder != Path("."):
        print(f"  cd {folder}")
    print("  proofbook check   # runs the pages and checks what they say")
    print("  mkdocs serve      # shows the book in your browser, and follows your edits")
    return 0
