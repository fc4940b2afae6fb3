"""Workloads: presets and files, traces, fio jobs, requests in columns, and functions that make
requests. ``a | b`` runs the workloads ``a`` and ``b`` at the same time on one drive."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _vpass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Sets = Mapping[str, Any]
"""Values of keys, as in the option ``--set``. None removes the value of a key."""

OPERATIONS = {"read": 0, "r": 0, "write": 1, "w": 1, "trim": 2, "discard": 2, "t": 2, "d": 2}
"""Names of a request's operation, in lower case."""

MOST_BYTES = 2**32 - 1
"""Largest size of one request, in bytes."""


@dataclass
class One:
    """Workload in the form for the extension module."""

    kind: str
    name: str
    text: str = ""
    files: list[str] = field(default_factory=list)
    replay: Replay | None = None
    listed: _vpass.Listed | None = None
    function: Callable[..., Any] | None = None
    identity: str = ""


class Beside:
    """Workload that can be combined with others by the operator ``|``."""

    def ones(self) -> list[One]:
        """Return the single workloads, in the form for the extension module."""
        raise NotImplementedError

    def sets(self) -> Sets:
        """Return the values of keys that belong to the workload."""
        return {}

    def __or__(self, other: Beside) -> Beside:
        """Return a workload that runs both at the same time, each with its own arrival times."""
        if not isinstance(other, Beside):
            return NotImplemented
        if isinstance(self, Synthetic) and isinstance(other, Synthetic):
            return Synthetic(self.parts + other.parts)
        return Several([self, other])


class Several(Beside):
    """Several workloads that run at the same time on one drive."""

    def __init__(self, all: Sequence[Beside]) -> None:
        self.all = list(all)

    def ones(self) -> list[One]:
        if any(one.sets() for one in self.all):
            raise ValueError(
                "a workload with values of keys stands alone: the keys would hold for all "
                "workloads beside it; Workload.synthetic(...) has its values by itself"
            )
        return [one for workload in self.all for one in workload.ones()]


@dataclass(frozen=True)
class Workload(Beside):
    """Workload from a preset or a TOML file, with other values for some keys."""

    name: str | os.PathLike[str]
    set: Sets = field(default_factory=dict)

    def ones(self) -> list[One]:
        return [One("file", os.fspath(self.name))]

    def sets(self) -> Sets:
        return self.set

    @staticmethod
    def of(name: str, **keys: Any) -> Text:
        """Return a workload with the name ``name`` and these keys of a table ``[workload]``."""
        return Text(name, keys)

    @staticmethod
    def synthetic(
        *,
        rate: float,
        reads: str | None = None,
        writes: str | None = None,
        read_share: float | None = None,
        over: tuple[int | str, int | str] | None = None,
        block_size: int | str | None = None,
        arrivals: str | None = None,
        run: int | str | None = None,
    ) -> Synthetic:
        """Return a workload of ``rate`` generated requests per second to the range ``over`` of the
        drive.

        ``reads`` and ``writes`` are distributions such as "zipf:0.9". If both are given,
        ``read_share`` is the share of reads. ``over`` has the start and the end of the range, as
        numbers of bytes, sizes ("140GiB") or percent ("25%"). Without ``over``, requests go to the
        whole drive.
        """
        if reads is None and writes is None:
            raise ValueError("Workload.synthetic(): give reads or writes, such as reads='uniform'")
        if (reads is not None and writes is not None) != (read_share is not None):
            raise ValueError(
                "Workload.synthetic(): read_share goes with both reads and writes, and not with "
                "one of them"
            )
        part: dict[str, Any] = {"rate": float(rate)}
        if read_share is None:
            read_share = 1.0 if writes is None else 0.0
        part |= {"read_share": float(read_share), "distribution": reads or writes}
        if reads is not None and writes is not None:
            part["write_distribution"] = writes
        if over is not None:
            part |= {"begin": _place(over[0]), "end": _place(over[1])}
        for key, value in (("block_size", block_size), ("arrivals", arrivals), ("run", run)):
            if value is not None:
                part[key] = value
        return Synthetic([part])


def _place(place: int | str) -> str:
    return place if isinstance(place, str) else f"{int(place)}B"


@dataclass(frozen=True)
class Text(Beside):
    """Workload with a name, and with values for keys of its table ``[workload]``."""

    name: str
    keys: Mapping[str, Any]

    def ones(self) -> list[One]:
        lines = [f"{key} = {toml(value)}" for key, value in self.keys.items()]
        return [One("text", self.name, text="\n".join(["[workload]", *lines, ""]))]


class Synthetic(Beside):
    """Workload of generated requests in parts, each with its own range, rate and sizes."""

    def __init__(self, parts: Sequence[Mapping[str, Any]], requests: int | None = None) -> None:
        self.parts = [dict(part) for part in parts]
        self.requests = requests

    def with_requests(self, requests: int) -> Synthetic:
        """Return a copy of the workload with ``requests`` requests in a pass."""
        return Synthetic(self.parts, requests)

    def text(self) -> str:
        """Return the text of the workload file."""
        lines = ["[workload]"]
        if self.requests is not None:
            lines.append(f"requests = {self.requests}")
        for part in self.parts:
            lines.append("\n[[workload.part]]")
            lines += [f"{key} = {toml(value)}" for key, value in part.items()]
        return "\n".join(lines) + "\n"

    def ones(self) -> list[One]:
        return [One("text", "synthetic", text=self.text())]


def toml(value: Any) -> str:
    """Return a value as TOML in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(of)}" for key, of in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(of) for of in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


@dataclass
class Replay:
    """Options for reading and replaying a trace, with the names of the command's options."""

    fit: str = "error"
    only: list[str] = field(default_factory=list)
    concat: bool = False
    join_recordings: bool = False
    format: str | None = None
    columns: str | None = None
    assume_op: str | None = None
    assume_rate: float | None = None
    time_unit: str | None = None
    blk_action: str | None = None
    skip_bad_lines: bool = False
    speed: float = 1.0
    strict: bool = False


class Trace(Beside):
    """Workload from trace files, whose requests are merged by time."""

    def __init__(
        self,
        *files: str | os.PathLike[str],
        fit: str = "error",
        only: Sequence[str] = (),
        **replay: Any,
    ) -> None:
        """Make a workload from trace files. ``fit`` (error, wrap, scale or pack) and ``only`` are
        options of the command. ``replay`` contains further options: concat, join_recordings,
        format, columns, assume_op, assume_rate, time_unit, blk_action, skip_bad_lines, speed and
        strict."""
        if not files:
            raise ValueError("Trace(): name one file or more")
        self.files = [os.fspath(file) for file in files]
        self.replay = Replay(fit=fit, only=list(only), **replay)

    def ones(self) -> list[One]:
        return [One("trace", " ".join(self.files), files=self.files, replay=self.replay)]


@dataclass(frozen=True)
class Fio(Beside):
    """Workload from a job file of fio."""

    file: str | os.PathLike[str]

    def ones(self) -> list[One]:
        return [One("fio", os.fspath(self.file))]


class Requests(Beside):
    """Requests in columns: arrays of numpy, series of polars or pandas, arrays of Arrow, or lists.

    Requests are copied once (32 bytes each). With ``time``, requests arrive at the given times.
    Without ``time``, the option ``queue_depth`` of the run is the number of outstanding requests
    (64 by default).
    """

    def __init__(
        self,
        *,
        offset: npt.ArrayLike,
        bytes: npt.ArrayLike,
        op: npt.ArrayLike,
        time: npt.ArrayLike | None = None,
        name: str = "requests",
    ) -> None:
        """Copy the columns. ``offset`` and ``bytes`` are in bytes, and ``time`` is in seconds.
        ``op`` contains "read", "write" or "trim", their first letters, or 0, 1 and 2. ``bytes`` and
        ``op`` may also be a single value for all requests."""
        self.name = name
        self.columns = columns({"offset": offset, "bytes": bytes, "op": op, "time": time})
        self.listed = _vpass.Listed(*self.columns)

    def __len__(self) -> int:
        return len(self.listed)

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "columns": self.columns}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.name, self.columns = state["name"], state["columns"]
        self.listed = _vpass.Listed(*self.columns)

    def ones(self) -> list[One]:
        return [One("requests", self.name, listed=self.listed)]


class Columns(NamedTuple):
    """Columns in the form for the extension module: bytes, bytes, 0/1/2, and nanoseconds."""

    offset: npt.NDArray[np.uint64]
    bytes: npt.NDArray[np.uint32]
    op: npt.NDArray[np.uint8]
    at: npt.NDArray[np.uint64] | None


def columns(given: Mapping[str, Any]) -> Columns:
    """Return columns of requests in the form for the extension module."""
    import numpy as np

    unknown = set(given) - {"offset", "bytes", "op", "time"}
    if unknown:
        raise ValueError(
            f"unknown column {sorted(unknown)[0]!r}: offset, bytes, op and time are expected"
        )
    offset = _whole("offset", given["offset"], 2**63).astype(np.uint64)
    size = _whole("bytes", given["bytes"], MOST_BYTES).astype(np.uint32)
    op = _operations(given["op"])
    rows = offset.shape[0] if offset.ndim else 0
    size, op = (np.full(rows, one) if one.ndim == 0 else one for one in (size, op))
    time = given.get("time")
    at = None
    if time is not None:
        seconds = np.asarray(time, dtype=np.float64)
        if seconds.size and not (np.isfinite(seconds).all() and seconds.min() >= 0):
            raise ValueError("time: numbers of seconds from 0 on are expected")
        at = np.ascontiguousarray(np.round(seconds * 1e9).astype(np.uint64))
    offset, size, op = (np.ascontiguousarray(one) for one in (offset, size, op))
    return Columns(offset, size, op, at)


def _whole(name: str, given: Any, most: int) -> Any:
    import numpy as np

    array = np.asarray(given)
    if array.dtype.kind not in "iu":
        whole = array.astype(np.int64) if array.dtype.kind == "f" else None
        if whole is None or (whole != array).any():
            raise ValueError(f"{name}: whole numbers are expected, not {array.dtype}")
        array = whole
    if array.size and not (int(array.min()) >= 0 and int(array.max()) <= most):
        raise ValueError(f"{name}: numbers from 0 to {most} are expected")
    return array


def _operations(given: Any) -> Any:
    import numpy as np

    array = np.asarray(given)
    if array.dtype.kind in "iu" and (array.size == 0 or 0 <= array.min() <= array.max() <= 2):
        return array.astype(np.uint8)
    words, which = np.unique(array.astype(str), return_inverse=True)
    unknown = [word for word in words if word.lower() not in OPERATIONS]
    if unknown:
        raise ValueError(f"op {str(unknown[0])!r}: read, write or trim, or 0, 1, 2 is expected")
    numbers = np.array([OPERATIONS[word.lower()] for word in words], dtype=np.uint8)
    return numbers[which].reshape(array.shape)


class Generator(Beside):
    """Workload from a function that makes requests. It is called for each drive and each pass."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.function(*given, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_generator_of, (self.function.__module__, self.function.__qualname__))

    def ones(self) -> list[One]:
        name = self.function.__qualname__
        return [One("generator", name, function=self.batches, identity=self.identity())]

    def identity(self) -> str:
        """Return the source code of the function's module. It identifies the workload."""
        module = inspect.getmodule(self.function)
        try:
            return inspect.getsource(module or self.function)
        except (OSError, TypeError):
            return f"{self.function!r}, whose source is unknown"

    def batches(self, drive: Mapping[str, int], seed: int, turn: int) -> Iterator[Columns]:
        """Yield the requests of one pass in batches."""
        import numpy as np

        for batch in self.function(drive, np.random.default_rng([seed, turn])):
            yield columns(batch)


def _generator_of(module: str, name: str) -> Generator:
    import importlib

    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    assert isinstance(found, Generator)
    return found


def generator(function: Callable[..., Any]) -> Generator:
    """Make a workload from a function ``(drive, rng)`` that yields batches of requests.

    ``drive`` has ``capacity_bytes`` and ``page_bytes``. ``rng`` is a random generator of numpy,
    which follows from the seed of the run. A batch is a dict of columns: offset, bytes, op, and
    time if requests have times. The columns are those of ``Requests``. Batches of 10,000 requests
    and more are fast.
    """
    return Generator(function)
