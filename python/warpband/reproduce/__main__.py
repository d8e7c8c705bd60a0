import pathlib
import sys

if __package__:
    from .cli import main
else:  # the command starts this folder, which needs no compiled module
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    from reproduce.cli import main

sys.exit(main())
