"""Classes whose keywords are those that the library lists: signature, docstring, attributes, repr and copies follow from the list."""
from __future__ import annotations

import functools
import inspect
import re
import textwrap
import warnings
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, TypeVar

import numpy as np

from . import _core
from ._settings import refused, shown

Class = TypeVar("Class", bound=type)


class Keyword(NamedTuple):
    """A setting of the library (core/setting.hpp) as a keyword."""

    name: str
    annotation: str
    default: Any  #: ``...`` where it must be given
    allowed: str
    text: str


class Described:
    """An immutable object made of settings by name. Its repr shows the settings; copies and pickles are made from them."""

    _work: Any  #: the compiled part
    _given: dict[str, Any]  #: the keywords it was made of
    _fixed: frozenset[str] = frozenset()  #: attributes that the constructor has made
    _always_shown: tuple[str, ...] = ()  #: by repr, also with their defaults

    if TYPE_CHECKING:  # settings are attributes
        def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any) -> None:
        self._check_free(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._check_free(name)
        object.__delattr__(self, name)

    def _check_free(self, name: str) -> None:
        """Refuses to change attributes made by the constructor. A subclass outside the package may have attributes of its own."""
        if name.startswith("_") or "_given" not in self.__dict__:
            return
        kind = next(cls for cls in type(self).__mro__ if cls.__module__.startswith("warpband."))
        if kind is type(self) or name in self._fixed or hasattr(kind, name):
            raise AttributeError(f"{kind.__name__}.{name} cannot be changed: make another {kind.__name__}")

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self)).parameters
        values = {name: self._given[name] if name in self._given else getattr(self, name) for name in parameters
                  if name in self._always_shown or name in self._given and name != "executor"}
        words = [f"{name}={self._shown(name, value)}" for name, value in values.items()
                 if name in self._always_shown or repr(value) != repr(parameters[name].default)]
        return f"{type(self).__name__}({', '.join(words)})"

    def _shown(self, name: str, value: Any) -> str:
        return shown(value) if hasattr(value, "__len__") else repr(value)

    def __reduce__(self) -> Any:
        return _made_again, (type(self), self._given)

    def __copy__(self) -> Any:
        return _made_again(type(self), self._given)

    def __deepcopy__(self, known: Any) -> Any:
        return _made_again(type(self), self._given)


def _kept(name: str, value: Any) -> Any:
    """A value as copies and pickles take it again: what the caller reads or changes later does not reach them."""
    if isinstance(value, (set, frozenset)):
        raise refused(name, value, "a list, as a set has no order")
    if isinstance(value, (list, Iterator)):
        return [_kept(name, item) for item in value]
    if type(value) is tuple:
        return tuple(_kept(name, item) for item in value)
    if type(value) is dict:
        return {key: _kept(name, item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _made_again(kind: type, given: dict[str, Any]) -> Any:
    return kind(**given)


def described(cls: Class) -> Class:
    """In ``__init__`` the listed keywords stand where ``**settings`` does, in the docstring where ``{settings}`` does. Their values
    in force are attributes. None leaves a keyword out."""
    kind: Any = cls
    keywords = [Keyword(*fields) for fields in _core.keywords.get(cls.__name__, ())]
    init = kind.__init__
    signature = _with(keywords, inspect.signature(init))
    optional = {keyword.name for keyword in keywords if keyword.default is not ...}

    @functools.wraps(init)
    def __init__(self: Any, **given: Any) -> None:
        if "_given" in self.__dict__:
            raise TypeError(f"{cls.__name__}: an object is made once: make another {cls.__name__}")
        _rename(cls.__name__, signature, given)
        try:
            signature.bind(self, **given)
        except TypeError as error:
            unknown = next((name for name in given if name not in signature.parameters), "")
            import difflib  # it takes a while
            near = difflib.get_close_matches(unknown, signature.parameters, 1)
            raise TypeError(f"{cls.__name__}: {error}{f'. Did you mean {near[0]!r}?' if near else ''}") from None
        given = {name: value for name, value in given.items() if value is not None or name not in optional}
        for name, value in given.items():
            try:
                given[name] = _kept(name, value)
            except RecursionError:
                raise refused(name, value, "lists that are not nested so deep") from None
        init(self, **given)
        self._fixed = frozenset(self.__dict__)
        self._given = given

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    kind.__init__ = __init__
    for keyword in keywords:
        if not hasattr(cls, keyword.name):
            setattr(cls, keyword.name, _attribute(keyword))
    if cls.__doc__:
        cls.__doc__ = re.sub(r"^( *)\{settings\}$", lambda m: "\n".join(_lines(m[1], keyword) for keyword in keywords), cls.__doc__,
                             flags=re.M)
    return cls


def _rename(owner: str, signature: inspect.Signature, given: dict[str, Any]) -> None:
    """Gives keywords and words of values their names of today, with a warning for each."""
    for old, new, words in _core.renamed:
        if old not in given or new not in signature.parameters or (old != new and old in signature.parameters):
            continue
        words = [(before, word) for before, word in words if word is not None or signature.parameters[new].default is None]
        if old != new and new in given:
            raise TypeError(f"{owner}: {old} and {new} say the same: expected one of them")
        value = given.pop(old)
        plain = bool(value) if isinstance(value, np.bool_) else value
        given[new] = next((word for before, word in words if _is(plain, before)), value)
        if old != new:
            warnings.warn(f"{owner}: {old} is now called {new}", FutureWarning, stacklevel=3)
        elif given[new] is not value:
            warnings.warn(f"{owner}: {old}={plain!r} is now called {old}={given[new]!r}", FutureWarning, stacklevel=3)


def _is(value: Any, before: Any) -> bool:
    """Whether a value is an old one: 0 is 0.0, but neither False nor "0"."""
    kinds = (bool,) if isinstance(before, bool) else (str,) if isinstance(before, str) else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and isinstance(value, bool) == isinstance(before, bool) and bool(value == before)


def _with(keywords: list[Keyword], signature: inspect.Signature) -> inspect.Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    listed = [inspect.Parameter(k.name, kind, default=inspect.Parameter.empty if k.default is ... else k.default, annotation=k.annotation)
              for k in keywords]
    stated = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    behind = [p for p in stated if p.name in ("llr_sign", "executor")]
    before = [p for p in stated if p not in behind]
    return signature.replace(parameters=[*before, *listed, *behind])


def _attribute(keyword: Keyword) -> property:
    def chosen(self: Any) -> Any:
        if "_in_force" not in self.__dict__:  # they never change
            self._in_force = self._work.settings
        return self._in_force[keyword.name]

    return property(chosen, doc=f"{keyword.text} As chosen.")


def _lines(indent: str, keyword: Keyword) -> str:
    return textwrap.fill(f"{keyword.name}: {keyword.allowed}. {keyword.text}", 116, initial_indent=indent,
                         subsequent_indent=indent + "    ", break_long_words=False, break_on_hyphens=False)
