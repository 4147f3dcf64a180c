"""What a build of the guest does without the tools or packages that it needs, and how it ends."""

import os
import signal
import threading
from pathlib import Path

import pytest

from natxy.dut.process import Process, within
from natxy.errors import DutError
from natxy.guest import build
from natxy.guest.packages import Packages

RELEASE = "6.1.0-cloud"
DPKG_DEB = 'cp -r "$TREE"/. "$3"'  # `dpkg-deb -x FILE FOLDER`
# As ld.so with --list; the libraries' folder is $2, the program $4.
LOADER = """#!/bin/sh
echo "  linux-vdso.so.1 (0x7f00)"
for name in $(cat "$4"); do
  if [ -e "$2/$name" ]; then echo "  $name => $2/$name (0x7f01)"; else echo "  $name => not found"
  fi
done
"""


class Unpacked(Packages):
    """Packages that need not be fetched."""

    def fetch(self, folder: Path) -> None:
        (folder / "all.deb").touch()


PACKAGES = Unpacked(names=("all",), identity="all")


def write(path: Path, text: str = "", mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The content of packages, and tools that do nothing."""
    tree, tools = tmp_path / "tree", tmp_path / "bin"
    for path in (
        f"boot/vmlinuz-{RELEASE}",
        f"usr/src/linux-headers-{RELEASE}/Makefile",
        "usr/src/jool-4/src/mod/common/common.ko",
        f"lib/modules/{RELEASE}/modules.dep",
        "lib/x86_64-linux-gnu/libc.so.6",
        *(f"usr/share/xtables/{name}" for name in build.EXTENSIONS),
    ):
        write(tree / path)
    write(tree / "lib64/ld-linux-x86-64.so.2", LOADER, 0o755)
    for name in build.PROGRAMS:
        write(tree / "usr/bin" / name, "libc.so.6\n", 0o755)
    write(tree / "usr/bin/busybox", "#!/bin/sh\ncat", 0o755)
    tool(tools, "dpkg-deb", DPKG_DEB)
    for name in ("make", "depmod"):
        tool(tools, name, "exit 0")
    monkeypatch.setenv("TREE", str(tree))
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    return tree


def tool(folder: Path, name: str, script: str) -> None:
    write(folder / name, f"#!/bin/sh\n{script}\n", 0o755)


def built(tmp_path: Path) -> Path:
    folder = tmp_path / "built"
    folder.mkdir()
    build.build(PACKAGES, folder)
    return folder


@pytest.mark.usefixtures("tree")
def test_a_build_leaves_a_kernel_and_programs_alone(tmp_path: Path) -> None:
    assert sorted(os.listdir(built(tmp_path))) == ["initramfs", "vmlinuz"]


@pytest.mark.parametrize(
    ("gone", "sentence"),
    [
        ("usr/bin/jool", r"built: its packages have no program `jool`\."),
        ("lib/x86_64-linux-gnu/libc.so.6", r"packages have no libc.so.6, which bash needs\."),
        (f"boot/vmlinuz-{RELEASE}", r"built: its packages have no boot/vmlinuz-\*\."),
    ],
)
def test_a_missing_part_of_the_packages_is_one_sentence(
    gone: str, sentence: str, tree: Path, tmp_path: Path
) -> None:
    (tree / gone).unlink()
    with pytest.raises(DutError, match=sentence):
        built(tmp_path)
    assert os.listdir(tmp_path / "built") == []


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("make", r"`make` is not installed \(expected the packages of `tools/install build run g"),
        ("depmod", r"`depmod` is not installed \(expected the packages of `tools/install"),
    ],
)
def test_a_missing_tool_is_one_sentence(
    name: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    (tools / name).unlink()
    for needed in ("sh", "cp", "cat"):
        (tools / needed).symlink_to(f"/bin/{needed}")
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(DutError, match=sentence):
        built(tmp_path)


@pytest.mark.usefixtures("tree")
def test_a_missing_compiler_is_the_last_line_of_make(tmp_path: Path) -> None:
    tool(tmp_path / "bin", "make", "echo '/bin/sh: 1: gcc-12: not found' >&2; exit 2")
    with pytest.raises(DutError, match=r"built: `make`: /bin/sh: 1: gcc-12: not found"):
        built(tmp_path)


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("a.c:2:5: warning: w\na.c:3:9: error: no\nb.c:1:1: error: b", "a.c:3:9: error: no"),
        ('ERROR: modpost: "f" [a.ko] undefined!', 'ERROR: modpost: "f" [a.ko] undefined!'),
        ("a.c:2:5: warning: w\n/bin/sh: 1: pahole: not found", "/bin/sh: 1: pahole: not found"),
    ],
)
def test_a_failed_build_names_its_first_error(said: str, reason: str, tmp_path: Path) -> None:
    said += "\nmake[1]: *** [Makefile:64: a.ko] Error 127\nmake: *** [Makefile:2: all] Error 2"
    (tmp_path / "said").write_text(said)
    tool(tmp_path / "bin", "make", f"cat {tmp_path}/said >&2; exit 2")
    with pytest.raises(DutError) as told:
        built(tmp_path)
    assert str(told.value).endswith(f"`make`: {reason}")


def test_modules_in_usr_are_found(tree: Path, tmp_path: Path) -> None:
    (tree / "usr/lib").mkdir()
    (tree / "lib/modules").rename(tree / "usr/lib/modules")
    assert sorted(os.listdir(built(tmp_path))) == ["initramfs", "vmlinuz"]


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("how", ["Ctrl-C", "time"])
def test_the_compilers_end_with_the_build(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "compiler"
    compile_it = f"sleep 300 & echo $! >{started}.new; mv {started}.new {started}; wait"
    tool(tmp_path / "bin", "make", compile_it)
    compilers: list[Process] = []

    def note() -> None:
        within(10, started.exists)
        compilers.append(Process.of(int(started.read_text())))
        if how == "Ctrl-C":
            os.kill(os.getpid(), signal.SIGINT)

    expected: type[BaseException] = KeyboardInterrupt
    if how == "time":
        monkeypatch.setattr(build, "BUILT_WITHIN_S", 2.0)
        expected = DutError
    noting = threading.Thread(target=note)
    noting.start()
    with pytest.raises(expected):
        built(tmp_path)
    noting.join()
    assert within(10, lambda: not compilers[0].lives())
    assert os.listdir(tmp_path / "built") == []
