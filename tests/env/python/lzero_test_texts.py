"""Environments for the tests of worker processes that draw no pictures, as those of lzero_test_envs.py are found."""

import gymnasium
from lzero_test_envs import Count


class DrawsText(Count):
    """Draws text and no picture, and takes no other mode."""

    metadata = {"render_modes": ["human", "ansi"]}

    def __init__(self, render_mode=None, **settings):
        assert render_mode in (None, *self.metadata["render_modes"])
        super().__init__(render_mode=render_mode, **settings)

    def render(self):
        return f"\x1b[41m{self.steps}\x1b[0m of {self.length}"


class DrawsNowhere(DrawsText):
    """Knows no mode that lzero asks for."""

    metadata = {"render_modes": ["human"]}


for _kind in (DrawsText, DrawsNowhere):
    gymnasium.register(f"{_kind.__name__}-v0", entry_point=_kind)
