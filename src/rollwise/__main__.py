"""``python -m rollwise`` is ``rollwise``."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, whose files would come before any library's

    from rollwise.cli import main

    main()
