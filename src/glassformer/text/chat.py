"""The chat template of SmolLM2: a conversation, as one text for the model to continue."""

from collections.abc import Mapping, Sequence

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""The system message that the template adds if you give none."""

START, END = "<|im_start|>", "<|im_end|>"


def chat_text(messages: Sequence[Mapping[str, str]], *, add_generation_prompt: bool = True) -> str:
    """Wrap each message in its role and an end token, and open the assistant's answer.

    A conversation that begins without a system message gets the default one.

    Args:
        messages: Each with a `role` (system, user, or assistant) and a `content`.
        add_generation_prompt: Whether the text ends where the assistant's answer begins.

    Raises:
        ValueError: There is no message.

    Source: the template in the tokenizer of SmolLM2-135M-Instruct.

    >>> print(chat_text([{"role": "system", "content": "Be kind."}]))
    <|im_start|>system
    Be kind.<|im_end|>
    <|im_start|>assistant
    <BLANKLINE>
    """
    if not messages:
        raise ValueError(f"messages ({messages!r}) must contain at least one message")
    conversation = [*messages]
    if conversation[0]["role"] != "system":
        conversation.insert(0, {"role": "system", "content": SYSTEM})
    text = "".join(f"{START}{one['role']}\n{one['content']}{END}\n" for one in conversation)
    return text + f"{START}assistant\n" * add_generation_prompt
