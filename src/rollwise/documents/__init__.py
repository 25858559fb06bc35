"""Every JSON document that rollwise prints: results as plain data, a module a family.

A function here takes results and gives a dict of texts, numbers, lists and dicts. Commands choose
and print; a browser or a notebook that asks here says the same thing. `parts.as_json` writes a
document.
"""
