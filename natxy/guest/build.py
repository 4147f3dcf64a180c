"""Builds the guest from Debian's packages: the kernel, Jool's modules, and an initramfs.

Nothing is installed on this machine; all happens below one folder.
"""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from natxy.errors import DutError
from natxy.guest.packages import Packages
from natxy.program_output import Finished, OutputTooLong, run

INIT = Path(__file__).with_name("init")
BUILT_WITHIN_S = 1200.0
JOOL = ("common", "nat64", "siit")  # in the order in which they use each other's symbols
# Debian 13's kernel headers let make add type information to modules, for which it needs pahole.
WITHOUT_BTF = "CONFIG_DEBUG_INFO_BTF_MODULES="
PROGRAMS = (
    "bash",
    "busybox",
    "conntrack",
    "ip",
    "jool",
    "jool_siit",
    "kmod",
    "nft",
    "tayga",
    "xtables-nft-multi",
)
# busybox's `ip` is another one, so the guest has only those of its commands that are needed.
OF_BUSYBOX = ("cat", "grep", "ls", "mount", "poweroff", "sleep", "uname")
OF_KMOD = ("modprobe", "lsmod")
OF_IPTABLES = ("iptables", "iptables-restore")
EXTENSIONS = ("libxt_NAT.so", "libxt_standard.so")  # of iptables
MASQUERADE = "libxt_MASQUERADE.so"  # a part of libxt_NAT.so
# Of the tunnel devices, gateways use ip6_tunnel. The others, and 8021q, are the other end of the
# tester's own tunnels and VLAN tags in tests.
MODULES = (
    "virtio_pci",
    "virtio_console",
    "virtio_net",
    "8021q",
    "ip6_gre",
    "ip6_tunnel",
    "ip_gre",
    "ipip",
    "jool",
    "jool_siit",
    "nf_conntrack_netlink",
    "nft_chain_nat",
    "nft_compat",
    "nft_masq",
    "sit",
    "tun",
    "veth",
    "xt_MASQUERADE",
)
ERROR = re.compile(r"\berror: ", re.IGNORECASE)  # of a compiler, or of the kernel's modpost
FAILED_RULE = re.compile(r"\*\*\* \[.* Error \d+$")
FOLDERS = ("bin", "dev", "lib", "lib64", "proc", "run", "sys", "tmp")


def build(packages: Packages, folder: Path) -> None:
    """Makes `vmlinuz` and `initramfs` in a folder; DutError if a step fails."""
    with _below(folder, "work") as work:
        debs, system, guest = (_made(work / name) for name in ("debs", "system", "guest"))
        packages.fetch(debs)
        unpack(debs, system)
        release = _release(system)
        _build_jool(system, release)
        _fill(guest, system, release)
        shutil.copyfile(_one(system, f"boot/vmlinuz-{release}"), folder / "vmlinuz")
        _pack(guest, folder / "initramfs")


@contextlib.contextmanager
def _below(folder: Path, name: str) -> Iterator[Path]:
    path = _made(folder / name)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def _made(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def unpack(debs: Path, system: Path) -> None:
    """Unpacks packages, and moves the kernel's modules to /lib/modules, where depmod looks."""
    for deb in sorted(debs.glob("*.deb")):
        _run(["dpkg-deb", "-x", str(deb), str(system)])
    of_debian_13 = system / "usr/lib/modules"
    if of_debian_13.exists():
        (system / "lib").mkdir(exist_ok=True)
        of_debian_13.rename(system / "lib/modules")


def _release(system: Path) -> str:
    return _one(system, "boot/vmlinuz-*").name.removeprefix("vmlinuz-")


def _build_jool(system: Path, release: str) -> None:
    """Builds Jool's modules with the kernel's own makefiles, and lists what they depend on."""
    headers = system / "usr/src" / f"linux-headers-{release}"
    makefile = headers / "Makefile"  # names the installed headers, which are not installed here
    makefile.write_text(makefile.read_text().replace("/usr/src/", f"{system}/usr/src/"))
    source = _one(system, "usr/src/jool-*") / "src/mod"
    extra = _made(system / "lib/modules" / release / "extra")
    jobs = f"-j{os.cpu_count() or 1}"
    for part in JOOL:
        module = f"M={source / part}"
        _run(["make", "-s", jobs, "-C", str(headers), module, WITHOUT_BTF, "modules"])
        for built in (source / part).glob("*.ko"):
            shutil.copy(built, extra)
    _run(["depmod", "-b", str(system), release])


def _fill(guest: Path, system: Path, release: str) -> None:
    """Copies programs, their libraries and modules; all programs are in /bin, libraries in /lib."""
    for name in FOLDERS:
        _made(guest / name)
    shutil.copy(INIT, guest / "init")
    (guest / "init").chmod(0o755)
    for name in PROGRAMS:
        shutil.copy(_program(system, name), guest / "bin")
    links = {"busybox": OF_BUSYBOX, "kmod": OF_KMOD, "xtables-nft-multi": OF_IPTABLES}
    for target, names in links.items():
        for name in names:
            (guest / "bin" / name).symlink_to(target)
    _copy_libraries(guest, system)
    extensions = _made(guest / "lib/xtables")
    for name in EXTENSIONS:
        shutil.copy(_one(system, f"**/xtables/{name}"), extensions)
    (extensions / MASQUERADE).symlink_to(EXTENSIONS[0])
    copy_modules(guest, system, release)


def _copy_libraries(guest: Path, system: Path) -> None:
    """Copies what the loader of the packages, not this machine's, finds for each program."""
    loader = _one(system, "**/ld-linux-x86-64.so.2")
    paths = ":".join(str(path) for path in system.glob("**/x86_64-linux-gnu") if path.is_dir())
    shutil.copy(loader, guest / "lib64")
    for name in PROGRAMS:
        if name == "busybox":  # linked statically
            continue
        program = str(guest / "bin" / name)
        listed = _run([str(loader), "--library-path", paths, "--list", program])
        if missing := re.search(r"(\S+) => not found", listed):
            raise DutError(
                f"The guest could not be built: its packages have no {missing[1]}, which {name} "
                "needs."
            )
        for library in re.findall(rf"=> ({re.escape(str(system))}\S+)", listed):
            shutil.copy(library, guest / "lib")


def copy_modules(guest: Path, system: Path, release: str, names: Sequence[str] = MODULES) -> None:
    """Copies modules of an unpacked kernel package, with those that they need."""
    modules = system / "lib/modules" / release
    listed = dict(line.split(":", 1) for line in (modules / "modules.dep").read_text().splitlines())
    for path in needed_modules(listed, names):
        target = guest / "lib/modules" / release / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(modules / path, target)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        if (modules / name).exists():
            shutil.copy(modules / name, guest / "lib/modules" / release)
    _run(["depmod", "-b", str(guest), release])


def needed_modules(listed: dict[str, str], names: Sequence[str]) -> list[str]:
    """Returns the paths of these modules and of what they depend on, by the lines of modules.dep.

    A name that no line has belongs to a module that is built into the kernel.
    """
    paths = {Path(path).name.partition(".")[0].replace("-", "_"): path for path in listed}
    found = [paths[name] for name in names if name in paths]
    return sorted({*found, *(other for path in found for other in listed[path].split())})


def _pack(guest: Path, target: Path) -> None:
    """Packs the folder with busybox's own cpio, so that this machine needs none."""
    names = "\n".join(sorted(str(path.relative_to(guest)) for path in guest.rglob("*")))
    cpio = [str(guest / "bin/busybox"), "cpio", "-o", "-H", "newc", "-R", "0:0"]
    packed = subprocess.run(cpio, input=names.encode(), capture_output=True, check=False, cwd=guest)
    if packed.returncode != 0:
        raise DutError(f"The guest could not be built: cpio: {packed.stderr.decode().strip()}")
    target.write_bytes(_compressed(packed.stdout))


def _compressed(octets: bytes) -> bytes:
    return subprocess.run(["gzip", "-1"], input=octets, capture_output=True, check=True).stdout


def _program(system: Path, name: str) -> Path:
    found = [
        path
        for folder in ("bin", "sbin", "usr/bin", "usr/sbin")
        if (path := system / folder / name).is_file() and not path.is_symlink()
    ]
    if not found:
        raise DutError(f"The guest could not be built: its packages have no program `{name}`.")
    return found[0]


def _one(system: Path, pattern: str) -> Path:
    found = sorted(path for path in system.glob(pattern) if not path.is_symlink())
    if not found:
        raise DutError(f"The guest could not be built: its packages have no {pattern}.")
    return found[0]


def _run(command: Sequence[str]) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    try:
        done = run(command, timeout_s=BUILT_WITHIN_S, env={**environment, "LC_ALL": "C"})
    except FileNotFoundError as missing:
        raise DutError(
            f"The guest could not be built: `{command[0]}` is not installed (expected the packages "
            "of `tools/install build run guest`)."
        ) from missing
    except subprocess.TimeoutExpired as late:
        raise DutError(
            f"The guest could not be built: `{command[0]}` did not end within {BUILT_WITHIN_S:g} s."
        ) from late
    except OutputTooLong as error:
        raise DutError(f"The guest could not be built: `{command[0]}` {error}.") from error
    if done.status != 0:
        raise DutError(f"The guest could not be built: `{command[0]}`: {_reason(done)}")
    return done.output


def _reason(failed: Finished) -> str:
    """Returns a compiler's first error, or what was said before make named the failed rule."""
    lines = failed.errors.splitlines()
    errors = (line for line in lines if ERROR.search(line))
    before_make = (line for line, after in pairwise(lines) if FAILED_RULE.search(after))
    return next(errors, None) or next(before_make, None) or failed.last_line
