"""That a page can fail: run_page.py on small pages."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("run_page.py")


def run_page(text, *options):
    """Exit code and output of run_page.py on a page with this text."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.md")
        page.write_text(text, encoding="utf-8")
        result = subprocess.run([sys.executable, "-B", SCRIPT, page, pathlib.Path(folder, "work"), *options],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


class RunPageTest(unittest.TestCase):
    def expect(self, code, part, text, *options):
        got, printed = run_page(text, *options)
        self.assertEqual(got, code, printed)
        self.assertIn(part, printed)

    def test_a_good_page_passes_with_variables_and_folders_kept(self):
        self.expect(0, "every promise was kept",
                    "# Page\n\nText.\n\n    mkdir a; x=5\n    cd a\n\nMore.\n\n    echo $x in $(basename $PWD)\n"
                    "    #> 5 in\n    #> a\n")

    def test_a_command_that_fails_is_named(self):
        self.expect(1, "exit code 1 in: false", "    echo a\n    #> a\n    false\n    echo b\n")
        self.expect(1, "exit code 1 in: false | cat", "    false | cat\n")
        self.expect(1, "unbound variable", "    echo $nobody_set_this\n")
        self.expect(1, "exit code 0 in: exit 0", "    exit 0\n")

    def test_a_broken_promise_is_named(self):
        self.expect(1, "not printed, or not in this order: 'b' by: echo a", "    echo a\n    #> b\n")
        self.expect(1, "'a' by: echo a; echo b", "    echo a\n    echo b\n    #> b\n    #> a\n")
        # Each step keeps its own promises.
        self.expect(1, "'a' by: echo b", "    echo a\n    #> a\n    echo b\n    #> a\n")

    def test_fenced_blocks_are_not_run(self):
        self.expect(0, "kept", "```\n    false\n```\n\n    true\n")

    def test_skipped_lines_must_be_there(self):
        self.expect(0, "kept", "    false\n    true\n", "--skip", "false")
        self.expect(1, "the page has no line ['flase']", "    true\n", "--skip", "flase")

    def test_a_page_without_commands_is_no_test(self):
        self.expect(1, "the page has no commands", "Words.\n")
        self.expect(1, "a promise before any command", "    #> a\n")


if __name__ == "__main__":
    unittest.main()
