"""Numbers as people meet them: printed with bounds, with an interval, drawn from a seed."""
