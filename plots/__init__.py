"""The figures of slmsim, each a module that is a script too; docs/commands/plot.md shows them."""
