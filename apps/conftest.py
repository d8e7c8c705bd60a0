"""What the tests of this folder share, when pytest runs them."""
import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session", autouse=True)
def fonts(tmp_path_factory):
    """A list of fonts of the tests' own for matplotlib, made before them. A program that has to make it, or has nowhere to write it, says so on
    stderr, where tests expect nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLCONFIGDIR", str(tmp_path_factory.mktemp("matplotlib")))
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], env=os.environ, stderr=subprocess.DEVNULL, check=False)
        yield
