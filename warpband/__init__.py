"""This folder is the C++ library. `import warpband` in the root of the repository finds it before the Python package: which is loaded instead."""
import importlib.machinery
import importlib.util
import os
import sys

_root = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir))
_spec = importlib.machinery.PathFinder.find_spec(
    __name__, [folder for folder in sys.path if os.path.realpath(folder or os.curdir) != _root])
if _spec is None or _spec.origin is None:
    raise ImportError(f"the Python package warpband is not installed: {_root}/warpband is its C++ library. `pip install .` installs "
                      "the package; or put build/<preset>/python on PYTHONPATH, where CMake builds it with -DWARPBAND_PYTHON=ON")
sys.modules[__name__] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sys.modules[__name__])
