"""What is measured, beside whom, and how; `python -m benchmarks` is `make bench`."""
