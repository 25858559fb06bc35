"""Games played on a graph: one move at a time, or many games at once in compiled code."""
