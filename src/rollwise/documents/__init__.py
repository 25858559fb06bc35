"""Documents: the answers of all commands as records, a module for each family of answers.

`model` has the base class, the units and the JSON schemas. The command line, the browser and
notebooks share these documents.
"""
