"""What scripts share that run the built command."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def fail(message):
    print(f"{pathlib.Path(sys.argv[0]).name}: error: {message}", file=sys.stderr)
    sys.exit(1)


def command():
    """Its path: WARPBAND_COMMAND, or what one of the presets built."""
    places = [os.environ.get("WARPBAND_COMMAND"), ROOT / "build/cuda/warpband", ROOT / "build/release/warpband"]
    for place in places:
        if place and os.access(place, os.X_OK):
            return str(place)
    fail("no warpband command: bash scripts/quickstart.sh builds it")
