"""Page of every public name of the Python package, from its sources.

Signatures are those of the sources and stubs. The texts are the docstrings; texts of classes of the
extension module are the comments in crates/python.
"""

import ast
import pathlib
import re
import textwrap

from page_text import WIDTH, filled, note

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/vpass"
NATIVE = ROOT / "crates/python/src"
ALIASES = ["AnyDrive", "AnyWorkload", "Sets", "Progress", "Answer"]
ABOUT = {
    "AnyDrive": "Drive: the name of a preset, a TOML file, or a `Drive`.",
    "AnyWorkload": "Workload: the name of a preset, a TOML file, or a workload of the package.",
}
INTERNAL = {"ones", "sets"}


class Source:
    """Definitions of one module of the package, by name."""

    def __init__(self, module: str):
        stub = PACKAGE / f"{module}.pyi"
        path = stub if stub.exists() else PACKAGE / f"{module}.py"
        self.is_native = stub.exists()
        self.body = ast.parse(path.read_text()).body

    def find(self, name: str) -> ast.stmt:
        """Definition of a name."""
        return next(one for one in self.body if name in defines(one))

    def text_after(self, node: ast.stmt) -> str:
        """Docstring below an assignment."""
        return text_after(self.body, node)


def defines(node: ast.stmt) -> list[str]:
    """Names that a statement defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign):
        return [ast.unparse(node.target)]
    return [ast.unparse(of) for of in node.targets] if isinstance(node, ast.Assign) else []


def text_after(body: list[ast.stmt], node: ast.stmt) -> str:
    """Docstring below a statement; empty if there is none."""
    after = body[body.index(node) + 1 :][:1]
    if after and isinstance(after[0], ast.Expr) and isinstance(after[0].value, ast.Constant):
        return textwrap.dedent(str(after[0].value.value))
    return ""


def native_texts() -> dict[str, str]:
    """Comments of the extension module: of classes, and of `CLASS.METHOD`."""
    found: dict[str, str] = {}
    for path in sorted(NATIVE.glob("*.rs")):
        text = path.read_text()
        for name, about in re.findall(r'create_exception!\(\s*\w+,\s*(\w+),[^"]*"([^"]*)"', text):
            found[name] = about
        of, words = "", []
        for line in text.splitlines():
            bare = line.strip()
            if bare.startswith("///"):
                words.append(bare[3:].strip())
                continue
            item = re.match(r"(?:pub(?:\(crate\))? )?(struct|fn|impl) (?:r#)?(\w+)", bare)
            field = re.match(r"(\w+): [\w<>:, ]+,$", bare)
            if item and item[1] != "fn" and not line.startswith(" "):
                of = item[2]
            if words and (item or field):
                name = (item or field)[2 if item else 1]
                member = field or item[1] == "fn" and line.startswith(" ")
                path = f"{of}.{name}" if member else name
                # A field that a method reads has the method's text.
                if not field or path not in found:
                    found[path] = " ".join(words)
            if not bare.startswith("#["):
                words = []
    return found


def prose(text: str) -> str:
    """Docstring as paragraphs of Markdown."""
    parts = re.split(r"\n\s*\n", text.strip())
    plain = [re.sub(r"``([^`]*)``", r"`\1`", " ".join(part.split())) for part in parts]
    return "\n\n".join(filled(part) for part in plain) + "\n\n"


def signature(name: str, of: ast.FunctionDef, is_method: bool) -> str:
    """Call of a function, with types and defaults; long ones have a line for each parameter."""
    given = of.args
    places = [*given.posonlyargs, *given.args][1 if is_method else 0 :]
    defaults = [None] * (len(places) - len(given.defaults)) + list(given.defaults)[-len(places) :]
    parts = [shown(arg, default) for arg, default in zip(places, defaults[-len(places) :] or [])]
    if given.vararg:
        parts.append("*" + shown(given.vararg, None))
    elif given.kwonlyargs:
        parts.append("*")
    parts += [shown(arg, default) for arg, default in zip(given.kwonlyargs, given.kw_defaults)]
    if given.kwarg:
        parts.append("**" + shown(given.kwarg, None))
    back = f" -> {ast.unparse(of.returns)}" if of.returns and of.name != "__init__" else ""
    line = f"{name}({', '.join(parts)}){back}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){back}"


def shown(arg: ast.arg, default: ast.expr | None) -> str:
    """Parameter with its type and its default."""
    form = f"{arg.arg}: {ast.unparse(arg.annotation)}" if arg.annotation else arg.arg
    return form if default is None else f"{form} = {ast.unparse(default)}"


def code(text: str) -> str:
    """Block of a signature. It is not marked as Python, because it does not run."""
    return f"```text\n{text}\n```\n\n"


def is_property(of: ast.FunctionDef) -> bool:
    """Whether a method is an attribute for its caller."""
    return any("property" in ast.unparse(one) for one in of.decorator_list)


def is_dataclass(of: ast.ClassDef) -> bool:
    """Whether the fields of a class are parameters of its constructor."""
    return any("dataclass" in ast.unparse(one) for one in of.decorator_list)


class Page:
    """The page, and the sources that it is made from."""

    def __init__(self) -> None:
        init = ast.parse((PACKAGE / "__init__.py").read_text()).body
        imports = [one for one in init if isinstance(one, ast.ImportFrom) and one.level == 1]
        self.module = {name.name: str(one.module) for one in imports for name in one.names}
        listed = next(one for one in init if "__all__" in defines(one))
        self.names: list[str] = [
            name for name in ast.literal_eval(listed.value) if not name.startswith("_")
        ]
        self.sources = {module: Source(module) for module in set(self.module.values())}
        self.native = native_texts()

    def text(self, source: Source, node: ast.AST, path: str) -> str:
        """Text about a definition. Every public one has a text."""
        own = ast.get_docstring(node) if isinstance(node, ast.ClassDef | ast.FunctionDef) else ""
        found = own or (self.native.get(path, "") if source.is_native else "")
        assert found, f"{path} has no docstring"
        return found

    def function(self, name: str) -> str:
        source = self.sources[self.module[name]]
        node = source.find(name)
        assert isinstance(node, ast.FunctionDef)
        return f"### {name}\n\n" + code(signature(name, node, False)) + prose(
            self.text(source, node, name)
        )

    def type_of(self, name: str) -> str:
        source = self.sources[self.module[name]]
        node = source.find(name)
        assert isinstance(node, ast.ClassDef)
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        plain = f"class {name}({bases})" if bases else f"class {name}"
        text = f"### {name}\n\n" + code(self.made(name, node) or plain)
        text += prose(self.text(source, node, name))
        inits = [one for one in node.body if defines(one) == ["__init__"]]
        text += "".join(prose(about) for one in inits if (about := ast.get_docstring(one)))
        rows, methods = [], ""
        for member in node.body:
            path = f"{name}.{(defines(member) or ['_'])[0]}"
            if path.split(".")[1].startswith("_") or path.split(".")[1] in INTERNAL:
                continue
            if isinstance(member, ast.FunctionDef) and not is_property(member):
                of_class = any("static" in ast.unparse(one) for one in member.decorator_list)
                call = signature(member.name, member, not of_class)
                methods += f"#### {path}\n\n" + code(call)
                methods += prose(self.text(source, member, path))
            elif isinstance(member, ast.FunctionDef):
                kind = f": {ast.unparse(member.returns)}" if member.returns else ""
                rows.append((f"{member.name}{kind}", self.text(source, member, path)))
            elif not is_dataclass(node):
                about = text_after(node.body, member) or self.native.get(path, "")
                rows.append((ast.unparse(member), about))
        items = [(f"- **`{form}`**", " ".join(text.split())) for form, text in rows]
        lines = [filled(prose(f"{form} {text}").strip(), "", "  ") for form, text in items]
        return text + ("\n".join(lines) + "\n\n" if lines else "") + methods

    def made(self, name: str, node: ast.ClassDef) -> str:
        """Call of a constructor; empty if the user makes no such object."""
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and member.name == "__init__":
                return signature(name, member, True)
        if is_dataclass(node):
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
            forms = [ast.unparse(one) for one in fields]
            parts = [form.replace("field(default_factory=dict)", "{}") for form in forms]
            return f"{name}({', '.join(parts)})"
        return ""

    def alias(self, name: str) -> str:
        """Section of a name that signatures use for a type."""
        sources = [Source(path.stem) for path in sorted(PACKAGE.glob("*.py"))]
        source = next(one for one in sources if any(name in defines(node) for node in one.body))
        node = source.find(name)
        about = ABOUT.get(name) or source.text_after(node)
        assert about, f"{name} has no docstring"
        return f"### {name}\n\n" + code(ast.unparse(node)) + prose(about)


def page() -> str:
    """The page."""
    made = Page()
    functions = [name for name in made.names if name[0].islower()]
    types = [name for name in made.names if name[0].isupper()]
    text = note("python/vpass and crates/python") + "# Reference of the Python package\n\n"
    text += filled(
        "Every public name of `vpass`. Options without a text of their own have the meaning of the "
        "command's option of this name ([command line](../reference/command-line.md))."
    )
    text += "\n\n## Functions\n\n" + "".join(map(made.function, functions))
    text += "## Classes\n\n" + "".join(map(made.type_of, types))
    text += "## Types in signatures\n\n" + "".join(map(made.alias, ALIASES))
    return text.rstrip("\n") + "\n"
