"""One kind of picture a module; the table of kinds is in `rollwise.plot`."""
