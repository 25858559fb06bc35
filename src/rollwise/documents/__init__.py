"""JSON documents of all results, as plain data: a module for each family of results.

Each function takes results and returns a dict of texts, numbers, lists and dicts. The command
line, the browser and notebooks share these documents. `parts.as_json` serializes a document.
"""
