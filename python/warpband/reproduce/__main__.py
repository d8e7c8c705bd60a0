import pathlib
import sys

if __package__:
    from .cli import main
else:  # the command starts this folder, which needs no compiled module
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    from _error_rates import begin_elsewhere
    from reproduce.cli import main

    if sys.argv[-1] != "--":  # to list the rows takes no matplotlib
        begin_elsewhere()

sys.exit(main())
