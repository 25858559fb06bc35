"""``python -m rollwise`` is ``rollwise``."""

from rollwise.cli import main

if __name__ == "__main__":
    main()
