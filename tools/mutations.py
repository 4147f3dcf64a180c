"""Lists the mutants of a Python source: its copies with one small change, such as < for <=.

Text is never changed: no string, so no docstring and no words of a remark, though what an f-string
computes is. Annotations, unions of classes and decorators are left out too, as are the keywords of
dataclasses.field that are not a default, since users see nothing of them.
"""

import ast
import contextlib
import copy
import dataclasses
import pathlib
import types
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[1]
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
LEFT_OUT = {"annotation", "returns", "decorator_list", "type_params", "bases"}
FIELD_DEFAULTS = {"default", "default_factory"}
TEXT = (ast.JoinedStr, ast.List, ast.Tuple)  # `+` joins them; any other operator raises TypeError
REMOVABLE = (ast.Raise, ast.Break, ast.Continue, ast.AugAssign, ast.Expr, ast.Assign)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """A node of the source, and where its parent has it."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    function: str  # the outermost function around it; empty if it is outside of functions

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mutant:
    file: str
    number: int  # in its file
    tree: ast.Module
    place: Place
    changed: ast.AST

    @property
    def function(self) -> str:
        """The function that changes, as `natxy/statistics.py:median`; empty if it is none."""
        return f"{self.file}:{self.place.function}" if self.place.function else ""

    def __str__(self) -> str:
        was, becomes = (_shown(node) for node in (self.place.node, self.changed))
        return f"{self.file}:{_line(self.place)}: {was} -> {becomes} [{self.number}]"

    def compiled(self) -> types.CodeType:
        with self._applied():
            return compile(ast.fix_missing_locations(self.tree), str(ROOT / self.file), "exec")

    def text(self) -> str:
        with self._applied():
            return ast.unparse(self.tree)

    @contextlib.contextmanager
    def _applied(self) -> Iterator[None]:
        self.place.put(ast.copy_location(self.changed, self.place.node))
        try:
            yield
        finally:
            self.place.put(self.place.node)


def mutants_of(file: str, text: str) -> list[Mutant]:
    tree = ast.parse(text)
    found = [(place, each) for place in _places(tree, "", "") for each in _changes(place)]
    return [
        Mutant(file=file, number=number, tree=tree, place=place, changed=changed)
        for number, (place, changed) in enumerate(found)
    ]


def _places(parent: ast.AST, function: str, scope: str) -> Iterator[Place]:
    """Yields the places within a node; `scope` is the dotted name of the classes around it."""
    for field, value in ast.iter_fields(parent):
        if field in LEFT_OUT:
            continue
        # The defaults of parameters are computed where the function is defined.
        inside = function if field == "args" else function or _name(parent, scope)
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST) and not _is_option_of_field(parent, node):
                yield Place(parent=parent, field=field, index=index, node=node, function=inside)
                yield from _places(node, inside, _scope(node, scope))


def _name(parent: ast.AST, scope: str) -> str:
    return f"{scope}{parent.name}" if isinstance(parent, ast.FunctionDef) else ""


def _scope(node: ast.AST, scope: str) -> str:
    return f"{scope}{node.name}." if isinstance(node, ast.ClassDef) else scope


def _is_option_of_field(parent: ast.AST, node: ast.AST) -> bool:
    if not (isinstance(parent, ast.Call) and isinstance(node, ast.keyword)):
        return False
    is_field = isinstance(parent.func, ast.Name) and parent.func.id == "field"
    return is_field and node.arg not in FIELD_DEFAULTS


def _changes(place: Place) -> Iterator[ast.AST]:
    """Yields what is put in the place of a node."""
    node = place.node
    if isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.Compare):
        yield from _comparison(node)
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        yield from _arithmetic(node)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(op=other, values=node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Return) and not _is_none(node.value):
        yield ast.Return(value=ast.Constant(None))
    if place.field == "test" and isinstance(node, ast.Name | ast.Attribute | ast.Call):
        yield ast.UnaryOp(op=ast.Not(), operand=node)
    if place.function and isinstance(node, REMOVABLE) and not _is_needed(place, node):
        yield ast.Pass()


def _constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)


def _comparison(node: ast.Compare) -> Iterator[ast.AST]:
    for index, operator in enumerate(node.ops):
        changed = copy.copy(node)
        changed.ops = [*node.ops]
        changed.ops[index] = COMPARISONS[type(operator)]()
        yield changed


def _arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[ast.AST]:
    operands = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    if type(node.op) in ARITHMETIC and not any(
        _is_text(each) or _is_type(each) for each in operands
    ):
        changed = copy.copy(node)
        changed.op = ARITHMETIC[type(node.op)]()
        yield changed


def _is_text(node: ast.AST) -> bool:
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_string or isinstance(node, TEXT)


def _is_type(node: ast.AST) -> bool:
    """Returns whether the node is None, or a class by its name, as in `A | None`."""
    return _is_none(node) or (
        isinstance(node, ast.Name) and node.id[0].isupper() and not node.id.isupper()
    )


def _is_needed(place: Place, node: ast.AST) -> bool:
    """Returns whether the statement is a docstring, or gives a name to a value: without it, any
    test that comes there would fail for want of the name."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if not isinstance(node, ast.Assign):
        return False
    # An attribute gets its name in the class's __init__.
    is_first = place.function.endswith(("__init__", "__post_init__"))
    return is_first or not isinstance(node.targets[0], ast.Attribute | ast.Subscript)


def _is_none(node: ast.AST | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _line(place: Place) -> int:
    return getattr(place.node, "lineno", 0) or getattr(place.parent, "lineno", 0)


def _shown(node: ast.AST) -> str:
    text = ast.unparse(node)
    return " ".join(text.split()) if len(text) < 80 else f"{' '.join(text.split())[:77]}..."
