#!/usr/bin/env python3
"""What the pages point to exists: every relative link, and every file that a page names as code."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *(page for folder in ("configs", "envs", "experiments", "lzero", "tests", "tools")
                               for page in sorted((ROOT / folder).rglob("*.md")))]
# Pages of today. Results name the files of the commit that made them.
HANDBOOK = [page for page in PAGES if page.name == "README.md" and page.parent.parent in (ROOT, ROOT.parent)]
LINK = re.compile(r"\]\(([^)#\s]*)#?([^)\s]*)[^)]*\)")
FILE = re.compile(r"(?<![\w/.-])(?:[a-z]\w*/)*[a-z]\w*\.(?:h|cc|py|sh|yaml|md)\b")
CODE = re.compile(r"`([^`\n]+)`|^    (.*)$", re.MULTILINE)
SECTIONS = r"(?:env|model|loss|search|replay|train|inference|evaluate|checkpoint|stop)"
KEY = re.compile(rf"(?<![\w./]){SECTIONS}\.(?!safetensors)[a-z_]+\b(?!\.(?:h|cc|py|md)\b)")
OF_A_RUN = {"config.yaml", "config.resolved.yaml", "lzero.sh"}  # in a run folder or a bundle


def anchors_of(page):
    """What a heading is called in a link: lower case, no signs, hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


class LinksTest(unittest.TestCase):
    def test_every_link_leads_to_a_file(self):
        self.assertGreater(len(PAGES), 30)
        for page in PAGES:
            for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
                if "://" in target:
                    continue
                found = page.parent / target if target else page
                self.assertTrue(found.exists(), f"{page.relative_to(ROOT)}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors_of(found), f"{page.relative_to(ROOT)}: {target}")

    def test_every_file_named_as_code_exists(self):
        self.assertEqual(len(HANDBOOK), 6)
        for page in HANDBOOK:
            for spans in CODE.findall(page.read_text(encoding="utf-8")):
                for name in FILE.findall(" ".join(spans)):
                    found = any((folder / name).exists() for folder in (ROOT, page.parent, *page.parent.glob("*/")))
                    self.assertTrue(found or name in OF_A_RUN, f"{page.relative_to(ROOT)}: {name}")

    def test_every_key_named_as_code_exists(self):
        known = set(re.findall(r"^\| `([a-z_.]+)` \|", (ROOT / "configs/reference.md").read_text(), re.MULTILINE))
        self.assertGreater(len(known), 100)
        for page in PAGES:
            if "experiments" in page.parts:  # keys of their commits
                continue
            for spans in CODE.findall(page.read_text(encoding="utf-8")):
                for key in KEY.findall(" ".join(spans)):
                    self.assertTrue(key in known or key.startswith("env.settings"), f"{page.relative_to(ROOT)}: {key}")


if __name__ == "__main__":
    unittest.main()
