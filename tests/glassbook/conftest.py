"""What its tests start from."""

from fixtures import *  # noqa: F403
