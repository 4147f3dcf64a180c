"""The mutants that tools/mutations.py makes, and how tools/mutants.py judges them."""

import signal

import pytest

from tools import callers, mutants, mutations


def made(source: str) -> list[str]:
    """Returns the mutants of a function's statements, without the function's first line."""
    found = mutations.mutants_of("natxy/a.py", f"def f(x, y):\n    {source}")
    return [each.text().partition("\n    ")[2].replace("\n    ", "; ") for each in found]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = y < z", ["x = y <= z"]),
        ("x = y <= z", ["x = y < z"]),
        ("x = y == z", ["x = y != z"]),
        ("x = a < y < b", ["x = a <= y < b", "x = a < y <= b"]),
        ("x = y is z", ["x = y is not z"]),
        ("x = y in z", ["x = y not in z"]),
        ("x = y + z", ["x = y - z"]),
        ("x = y // z", ["x = y * z"]),
        ("x = y and z", ["x = y or z"]),
        ("x = not y", ["x = y"]),
        ("x = 7", ["x = 8"]),
        ("x = True", ["x = False"]),
        ("x += y", ["x -= y", "pass"]),
        ("return x", ["return None"]),
        ("x.run()", ["pass"]),
        ("x.y = z", ["pass"]),
        ("raise x", ["pass"]),
        ("x = y if z else a", ["x = y if not z else a"]),
        ("x = f'{y - z} fps'", ["x = f'{y + z} fps'"]),
    ],
)
def test_each_kind_of_change_is_made(source: str, expected: list[str]) -> None:
    assert made(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""Says 1 < 2."""',
        "x = 'at least 1'",
        "x = 'at least ' + y",
        "x: Literal[1] = y",
        "x = Plan | Other | None",
        "x = y",
        "return None",
        "return",
    ],
)
def test_text_and_types_are_never_changed(source: str) -> None:
    assert made(source) == []


def test_what_a_class_says_of_its_fields_is_not_changed_but_their_defaults_are() -> None:
    source = """\
@dataclass(frozen=True)
class A:
    x: int = 1
    y: int = field(default=2, init=False, repr=True)

    def __post_init__(self) -> None:
        self.z = None
"""
    found = mutations.mutants_of("natxy/a.py", source)
    assert [str(each) for each in found] == [
        "natxy/a.py:3: 1 -> 2 [0]",
        "natxy/a.py:4: 2 -> 3 [1]",
    ]


def test_a_mutant_names_the_outermost_function_that_changes() -> None:
    source = """\
N = 1
class A:
    def f(self, n=2):
        def g():
            return 3
"""
    found = mutations.mutants_of("natxy/a.py", source)
    functions = {str(each).partition(": ")[2]: each.function for each in found}
    assert functions == {
        "1 -> 2 [0]": "",
        "2 -> 3 [1]": "",
        "return 3 -> return None [2]": "natxy/a.py:A.f",
        "3 -> 4 [3]": "natxy/a.py:A.f",
    }


def test_a_mutant_is_compiled_from_a_source_that_stays_as_it_was() -> None:
    first, second = mutations.mutants_of("natxy/a.py", "a = 1\nb = 2\n")
    names: dict[str, int] = {}
    exec(second.compiled(), names)
    assert (names["a"], names["b"]) == (1, 3)
    assert first.text() == "a = 2\nb = 2"


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (mutants.STATUSES[mutants.ALIVE], "ALIVE"),
        (mutants.STATUSES[mutants.CAUGHT], "caught"),
        (-signal.SIGPROF, "caught"),  # it did not end
        (-signal.SIGSEGV, "BROKEN"),
        (callers.FAILED, "BROKEN"),
        (0, "BROKEN"),
    ],
)
def test_a_mutant_ends_as_its_process_says(status: int, end: str) -> None:
    assert mutants.end_of(status) == end


def test_tests_near_the_change_run_first_and_only_as_many_as_there_is_time_for() -> None:
    def test(file: str, seconds: float) -> callers.Test:
        return callers.Test(name=f"tests/unit/{file}::t", seconds=seconds, called=frozenset())

    far, fast, slow, near = (
        test("test_cli.py", 3),
        test("test_help.py", 1),
        test("test_demo.py", 50),
        test("test_statistics.py", 5),
    )
    tests = [slow, far, fast, near]
    assert callers.nearest(tests, "natxy/statistics.py", limit_s=9) == [near, fast, far]
    imported = callers.nearest(tests, "natxy/statistics.py", limit_s=9, import_s=1)
    assert imported == [near, fast], "to import a test file takes a second"


def test_a_test_file_that_imports_a_module_from_its_package_is_near_it() -> None:
    """`from natxy.procedure import latency` reads the module's constants without a call."""
    assert "tests/unit/test_defaults.py" in callers.files_that_import("natxy/procedure/latency.py")
