"""The cache of built guests. A guest's folder is named by the packages and by this room's source,
so that any change of either builds another one.
"""

import fcntl
import functools
import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from natxy.errors import DutError
from natxy.guest.build import build
from natxy.guest.packages import (
    AptError,
    ListsOutdated,
    Packages,
    chosen_packages,
    update_lists,
)

CACHE = Path("/var/cache/natxy/guest")
VARIABLE = "NATXY_GUEST_CACHE"  # names another folder
KERNEL, INITRAMFS = FILES = "vmlinuz", "initramfs"  # of a guest's folder
CHECKSUMS = "sha256.json"
PACKAGES = "packages.txt"
UNFINISHED = "unfinished-"
SOURCES = ("packages.py", "build.py", "init")
LOG = logging.getLogger(__name__)

Build = Callable[[Packages, Path], None]


def versions_in(folder: Path, names: Sequence[str]) -> str:
    """Returns these packages of a guest with their versions."""
    listed = (folder / PACKAGES).read_text().splitlines()
    files = (unquote(line.split()[0]).split("_") for line in listed)
    found = {name: version for name, version, _ in files}
    return ", ".join(f"{name} {found.get(name, '(version unknown)')}" for name in names)


def usable_image(
    choose: Callable[[], Packages] = chosen_packages,
    make: Build = build,
    update: Callable[[], None] = update_lists,
    *,
    older_serves: bool = True,
) -> Path:
    """Returns the guest's folder in the cache, or builds it there; DutError if that fails.

    Without apt, or without its archive, the last guest that was built serves, if it may.
    """
    cache = cache_folder()
    try:
        try:
            return _image_of(choose(), cache, make)
        except ListsOutdated:
            update()
            return _image_of(choose(), cache, make)
    except AptError as error:
        older = last_built(cache) if older_serves else None
        if older is None:
            raise
        LOG.warning("natxy: %s The guest of %s is used.", error, built_on(older))
        return older


def image_of_this_process() -> Path:
    """Returns the folder of the usable guest; asks apt, and reads its files, only once."""
    return _first_image(cache_folder())


@functools.cache
def _first_image(_: Path) -> Path:
    return usable_image()


def renew_image(usable: Callable[..., Path] = usable_image) -> None:
    """Makes the next use ask apt again, since there may be other packages now; DutError if their
    guest cannot be built."""
    _first_image.cache_clear()
    usable(older_serves=False)


def cache_folder() -> Path:
    return Path(os.environ.get(VARIABLE) or CACHE)


def _image_of(packages: Packages, cache: Path, make: Build) -> Path:
    folder = cache / key_of(packages)
    if not is_whole(folder):  # a whole one may be in a folder that cannot be written
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with _alone(cache):  # a second one waits for what the first one builds
                if not is_whole(folder):
                    _build_into(folder, packages, make)
        except OSError as error:
            raise DutError(
                f"{error.filename or cache}: {error.strerror} (expected a writable folder for the "
                f"guest; the variable {VARIABLE} names another one)"
            ) from error
    return folder


def last_built(cache: Path) -> Path | None:
    """Returns the last whole guest that this room's source has built."""
    found = [path.parent for path in cache.glob(f"*/{PACKAGES}") if _is_of_this_source(path)]
    whole = filter(is_whole, sorted(found, key=lambda folder: folder.stat().st_mtime, reverse=True))
    return next(whole, None)


def _is_of_this_source(listed: Path) -> bool:
    identity = listed.read_text().removesuffix("\n")
    return key_of(Packages(names=(), identity=identity)) == listed.parent.name


def built_on(folder: Path) -> str:
    """Returns the day on which the guest of a folder was built."""
    return time.strftime("%Y-%m-%d", time.localtime(folder.stat().st_mtime))


def key_of(packages: Packages) -> str:
    digest = hashlib.sha256(packages.identity.encode())
    for name in SOURCES:
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()[:16]


def is_whole(folder: Path) -> bool:
    """Returns whether a folder has the files that were built, unchanged."""
    try:
        wanted = json.loads((folder / CHECKSUMS).read_text())
        return bool(wanted == _checksums(folder))
    except (OSError, ValueError):
        return False


def _build_into(folder: Path, packages: Packages, make: Build) -> None:
    """Builds beside the folder and renames, so that no half of a guest is ever in the cache."""
    if folder.exists():
        LOG.warning("natxy: %s is damaged; the guest is built again.", folder)
        shutil.rmtree(folder)
    LOG.warning("natxy: building the guest from Debian's packages, which takes a minute or two.")
    for killed in folder.parent.glob(f"{UNFINISHED}*"):  # the lock is this process's
        shutil.rmtree(killed, ignore_errors=True)
    temporary = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder.parent))
    try:
        make(packages, temporary)
        (temporary / PACKAGES).write_text(packages.identity + "\n")
        (temporary / CHECKSUMS).write_text(json.dumps(_checksums(temporary)))
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _checksums(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
