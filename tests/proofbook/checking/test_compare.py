"""What a page says is compared with values as a reader would."""

import math

from proofbook.checking.compare import says
from tables import table


@table(
    ("text", "value"),
    [
        ("five", 5),
        ("Twenty-one", 21),
        ("two hundred and five", 205),
        ("5", 5),
        ("5.0", 5.04),
        ("28", 27.7),
        ("30,522", 30522),
        ("1,234.5", 1234.46),
        ("−0.5", -0.5),
        (".25", 0.251),
        ("1.2e-6", 1.2345e-6),
        ("94%", 0.938),
        ("93.8 %", 0.9381),
        ("inf", math.inf),
        ("nan", math.nan),
        ("True", True),
        ("yes", True),
        ("No", False),
        ("not symmetric", "not symmetric"),
        ("5", "5"),
        ("None", None),
        ("[1, 5, 5]", [1, 5, 5]),
        ("(1, 5)", [1, 5]),
        ("torch.Size([2, 3])", [2, 3]),
        ("2 × 3", [2, 3]),
        ("30, 522", [30, 522]),
        ("[30,522]", [30, 522]),
        ("[0.1, 0.25]", [0.12, 0.2513]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("['a', \"b, c\"]", ["a", "b, c"]),
        ("[[CLS], time]", [["CLS"], "time"]),
        ("[]", []),
    ],
)
def test_it_says_so(text, value):
    assert says(text, value)


@table(
    ("text", "value"),
    [
        ("five", 6),
        ("six", 5.6),
        ("30,000", 30522),
        ("28", 27.4),
        ("5.0", 5.06),
        ("5.04", 5.0),
        ("1.3e-6", 1.2345e-6),
        ("95%", 0.938),
        ("0.94", 94),
        ("", 0),
        ("-", 0),
        ("5 of them", 5),
        ("nan", 1.0),
        ("inf", -math.inf),
        ("1", math.nan),
        ("1", True),
        ("True", 1),
        ("yes", False),
        ("Symmetric", "symmetric"),
        ("five", "5"),
        ("[1, 5]", [1, 5, 5]),
        ("[1, 5, 5, 5]", [1, 5, 5]),
        ("[1, 5, 5", [1, 5, 5]),
        ("[1, 5], 5", [1, 5, 5]),
        ("30,522", [30, 522]),
        ("1,512", [1, 512]),
        ("30,522, 7", [30, 522, 7]),
        ("[[1, 5]]", [1, 5]),
        ("[1, 5]", [[1, 5]]),
        ("5", [5, 5]),
    ],
)
def test_it_does_not_say_so(text, value):
    assert not says(text, value)
