"""The figures of slmsim, each a module that is a script too; docs/figures.md shows them."""
