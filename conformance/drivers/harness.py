"""What every Python driver shares: named cases as JSON lines on stdout, deadlines, comparisons.

The runner (conformance/main.ts) reads lines that start with CASE; everything else on stdout or stderr is log. A
driver that dies in the middle exits with a code other than 0, which the runner counts as a failed case.
"""

import json
import math
import sys
import time
import traceback

DEADLINE_S = 180.0


def emit(name, passed, detail="", seconds=0.0):
    line = json.dumps({"name": name, "passed": passed, "detail": str(detail), "seconds": round(seconds, 3)})
    print("CASE " + line, flush=True)


def case(name):
    """Runs the function at once as a case of that name; its return value, if any, is the detail."""

    def run(function):
        started = time.monotonic()
        try:
            detail = function()
            emit(name, True, "" if detail is None else detail, time.monotonic() - started)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            text = f"{type(error).__name__}: {error}"
            emit(name, False, text[:1500], time.monotonic() - started)
        return function

    return run


def wait(value):
    """The value of a future of any SDK generation, within the deadline; other values as they are."""
    result = getattr(value, "result", None)
    return result(timeout=DEADLINE_S) if callable(result) else value


def ensure(condition, message):
    if not condition:
        raise AssertionError(message)


def same(actual, expected, message, tolerance=1e-4):
    """Largest difference of two lists of numbers, or of two numbers; relative for magnitudes above 1."""
    actual = [actual] if isinstance(actual, (int, float)) else list(actual)
    expected = [expected] if isinstance(expected, (int, float)) else list(expected)
    ensure(len(actual) == len(expected), f"{message}: {len(actual)} values instead of {len(expected)}")
    worst = 0.0
    for index, (left, right) in enumerate(zip(actual, expected)):
        ensure(math.isfinite(left), f"{message}: value {index} is {left}")
        difference = abs(left - right) / max(1.0, abs(right))
        worst = max(worst, difference)
        ensure(difference <= tolerance, f"{message}: value {index} is {left}, expected {right} (tolerance {tolerance})")
    return worst


def refused(action, *words):
    """The text of the error that `action` must raise; it must hold every one of `words`."""
    try:
        value = action()
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        missing = [word for word in words if word not in text]
        ensure(not missing, f"refused, but the message lacks {missing}: {text}")
        return text[:300]
    raise AssertionError(f"accepted with {value!r}, although it must be refused")
