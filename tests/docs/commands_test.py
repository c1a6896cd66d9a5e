"""Each command has a page of docs/commands, which shows what the program prints."""
import re
import sys
import unittest

sys.dont_write_bytecode = True
import command_page


class Commands(unittest.TestCase):
    maxDiff = None

    def test_each_has_a_page_with_its_help_and_an_example(self):
        names = [name for name, _ in command_page.commands()]
        self.assertGreater(len(names), 15)
        for name in names:
            page = command_page.read(f"{name}.md")
            self.assertTrue(page.startswith(f"# {name}\n"), name)
            parts = [part for part, _ in command_page.parts_of(page)]
            self.assertIn(f"help-{name}", parts)
            # What serves or draws prints nothing that a page could repeat.
            self.assertTrue(f"example-{name}" in parts or name == "serve" or re.search(r"!\[.*\]\(", page), name)

    def test_pages_show_what_the_program_prints(self):
        for name in [name for name, _ in command_page.commands()] + ["README"]:
            for part, text in command_page.parts_of(command_page.read(f"{name}.md")):
                self.assertEqual(text, command_page.printed(part, text), f"{part}: run scripts/update-docs.sh")


if __name__ == "__main__":
    unittest.main()
