"""The guest's packages, its cache and its modules, without apt and without a build."""

import json
import os
import platform
import threading
import time
from pathlib import Path

import pytest

from natxy.errors import DutError
from natxy.guest import image
from natxy.guest.build import OF_BUSYBOX, OF_KMOD, PROGRAMS, build, needed_modules
from natxy.guest.image import is_whole, key_of, usable_image
from natxy.guest.packages import (
    AS_ROOT,
    LIBRARIES,
    AptError,
    ListsOutdated,
    Packages,
    chosen_packages,
    dependencies,
    reachable,
    update_lists,
)

CHOSEN = Packages(names=("one",), identity="one_1%3a4.1.9-1_all.deb SHA256:1")
DEPENDS = """\
linux-image-cloud-amd64
  Depends: linux-image-6.1.0-56-cloud-amd64
linux-image-6.1.0-56-cloud-amd64
  Depends: kmod
 |Depends: initramfs-tools
  Depends: <linux-initramfs-tool>
bash
  PreDepends: libc6
  PreDepends: libtinfo6
  Depends: base-files
kmod
  Depends: libc6
  Depends: liblzma5
libc6
  Depends: libgcc-s1
libgcc-s1
  Depends: libc6
libelf1
  Depends: zlib1g
<linux-initramfs-tool>
    dracut
"""
# As Debian 13 has it.
KERNEL_DEPENDS = """\
linux-image-cloud-amd64
  Depends: linux-image-6.12-cloud-amd64
linux-headers-cloud-amd64
  Depends: linux-headers-6.12-cloud-amd64
linux-headers-6.12-cloud-amd64
  Depends: linux-headers-6.12-common
 |Depends: linux-image-6.12-cloud-amd64
  Depends: linux-image-6.12-cloud-amd64-unsigned
  Depends: linux-kbuild-6.12
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(image.VARIABLE, str(folder))
    return folder


def make(_: Packages, folder: Path) -> None:
    (folder / "vmlinuz").write_text("kernel")
    (folder / "initramfs").write_text("programs")


def never(_: Packages, folder: Path) -> None:
    raise AssertionError(f"{folder} is built although the cache has it")


def test_a_program_needs_its_libraries_and_nothing_else() -> None:
    depends = dependencies(DEPENDS)
    assert reachable(depends, ("bash",), LIBRARIES) == {"bash", "libc6", "libtinfo6", "libgcc-s1"}
    assert reachable(depends, ("libelf1",), LIBRARIES) == {"libelf1", "zlib1g"}
    assert reachable(depends, ("linux-image-cloud-amd64",), ("linux-image-",)) == {
        "linux-image-cloud-amd64",
        "linux-image-6.1.0-56-cloud-amd64",
    }


def test_modules_come_with_what_they_depend_on() -> None:
    listed = {
        "kernel/net/virtio-net.ko": " kernel/net/failover.ko kernel/virtio.ko",
        "kernel/net/failover.ko": "",
        "kernel/virtio.ko": "",
        "kernel/other.ko": "",
        "extra/jool.ko.xz": " extra/jool_common.ko.xz",
    }
    assert needed_modules(listed, ["virtio_net", "jool", "built_in"]) == [
        "extra/jool.ko.xz",
        "extra/jool_common.ko.xz",
        "kernel/net/failover.ko",
        "kernel/net/virtio-net.ko",
        "kernel/virtio.ko",
    ]


def test_no_link_to_a_program_takes_the_place_of_another_program() -> None:
    """busybox's `ip` knows less than that of iproute2."""
    assert not {*OF_BUSYBOX, *OF_KMOD} & {*PROGRAMS}


def test_a_guest_is_built_once() -> None:
    made = usable_image(lambda: CHOSEN, make)
    assert (made / image.KERNEL).read_text() == "kernel"
    assert (made / image.INITRAMFS).read_text() == "programs"
    assert made.name == key_of(CHOSEN)
    assert usable_image(lambda: CHOSEN, never) == made


def test_it_knows_the_versions_of_its_packages() -> None:
    made = usable_image(lambda: CHOSEN, make)
    assert image.versions_in(made, ["one", "other"]) == "one 1:4.1.9-1, other (version unknown)"


def test_another_version_or_another_source_is_another_guest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = key_of(CHOSEN)
    assert key_of(Packages(names=("one",), identity="one_2")) != before
    for name in image.SOURCES:
        (tmp_path / name).write_text("another source")
    monkeypatch.setattr(image, "__file__", str(tmp_path / "image.py"))
    assert key_of(CHOSEN) != before


@pytest.mark.parametrize("harm", ["changed", "removed", "no checksums"])
def test_a_damaged_guest_is_built_again(harm: str, caplog: pytest.LogCaptureFixture) -> None:
    made = usable_image(lambda: CHOSEN, make)
    match harm:
        case "changed":
            (made / image.INITRAMFS).write_text("programS")
        case "removed":
            (made / image.KERNEL).unlink()
        case _:
            (made / image.CHECKSUMS).write_text("{")
    assert not is_whole(made)
    assert usable_image(lambda: CHOSEN, make) == made
    assert is_whole(made)
    assert (made / image.INITRAMFS).read_text() == "programs"
    assert "is damaged; the guest is built again" in caplog.text


def test_a_failed_build_leaves_nothing(cache: Path) -> None:
    def fail(_: Packages, folder: Path) -> None:
        (folder / "vmlinuz").write_text("half a kern")
        raise DutError("The guest could not be built: no.")

    with pytest.raises(DutError, match="could not be built"):
        usable_image(lambda: CHOSEN, fail)
    assert [path.name for path in cache.iterdir()] == ["lock"]


def test_what_a_killed_build_left_is_removed(cache: Path) -> None:
    (cache / f"{image.UNFINISHED}abc").mkdir(parents=True)
    usable_image(lambda: CHOSEN, make)
    assert {path.name for path in cache.iterdir()} == {"lock", key_of(CHOSEN)}


def test_two_processes_build_one_guest() -> None:
    built: list[Path] = []

    def slowly(chosen: Packages, folder: Path) -> None:
        built.append(folder)
        time.sleep(0.2)
        make(chosen, folder)

    threads = [threading.Thread(target=usable_image, args=(lambda: CHOSEN, slowly)) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1


def test_a_cache_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(image.VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.raises(DutError, match=r"file.*: Not a directory \(expected a writable folder"):
        usable_image(lambda: CHOSEN, make)


OUTDATED = "W: old\nE: Failed to fetch http://deb/bash_5.deb  404  Not Found [IP: ::1 80]\n"


def test_lists_that_are_out_of_date_are_fetched_again_once() -> None:
    """The archive has a newer version than the lists, so another guest is built."""
    newer = Packages(names=("one",), identity="one_1%3a4.1.10-1_all.deb SHA256:2")
    known = [CHOSEN]

    def fetch(chosen: Packages, folder: Path) -> None:
        if chosen == CHOSEN:
            raise ListsOutdated("404")
        make(chosen, folder)

    def update() -> None:
        known.append(newer)

    assert usable_image(lambda: known[-1], fetch, update).name == key_of(newer)


def test_lists_that_stay_out_of_date_are_fetched_again_only_once() -> None:
    updates: list[str] = []

    def fetch(_: Packages, folder: Path) -> None:
        raise ListsOutdated(f"{folder}: 404")

    with pytest.raises(ListsOutdated):
        usable_image(lambda: CHOSEN, fetch, lambda: updates.append("update"))
    assert updates == ["update"]


def test_without_apt_the_last_guest_serves_and_is_named(
    cache: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable() -> Packages:
        raise AptError("The archive cannot be reached.")

    with pytest.raises(AptError, match="cannot be reached"):
        usable_image(unreachable, never)
    old, new = (Packages(names=("one",), identity=f"one_{n}_all.deb S:{n}") for n in (1, 2))
    chosen = iter((old, new))
    for built_s in (0, 9e8):
        made = usable_image(lambda: next(chosen), make)
        os.utime(made, (built_s, built_s))
    assert usable_image(unreachable, never).name == key_of(new)
    assert "The archive cannot be reached. The guest of 1998-07-0" in caplog.text
    (cache / key_of(new) / "vmlinuz").write_text("damaged")
    assert usable_image(unreachable, never).name == key_of(old)
    for name in image.SOURCES:
        (cache / name).write_text("another source")
    monkeypatch.setattr(image, "__file__", str(cache / "image.py"))
    with pytest.raises(AptError):
        usable_image(unreachable, never)


def test_a_build_that_fails_is_not_hidden_by_an_older_guest() -> None:
    usable_image(lambda: CHOSEN, make)

    def fail(*_: object) -> None:
        raise DutError("The guest could not be built: no.")

    with pytest.raises(DutError, match="could not be built"):
        usable_image(lambda: Packages(names=(), identity="other"), fail)


def test_a_whole_guest_needs_no_writable_cache(cache: Path) -> None:
    """The lock is not taken; root could write to a folder of any mode."""
    made = usable_image(lambda: CHOSEN, make)
    (cache / "lock").unlink()
    (cache / "lock").mkdir()
    assert usable_image(lambda: CHOSEN, never) == made


def test_a_process_asks_for_its_guest_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def usable(**_: bool) -> Path:
        asked.append("asked")
        return usable_image(lambda: CHOSEN, make)

    monkeypatch.setattr(image, "usable_image", usable)
    assert image.image_of_this_process() == image.image_of_this_process()
    assert asked == ["asked"]
    image.renew_image(usable)
    image.image_of_this_process()
    assert len(asked) == 3


def test_an_older_guest_does_not_stand_for_another_version() -> None:
    def unreachable() -> Packages:
        raise AptError("The archive cannot be reached.")

    usable_image(lambda: CHOSEN, make)
    assert usable_image(unreachable, never)
    with pytest.raises(AptError):
        image.renew_image(lambda **asked: usable_image(unreachable, never, **asked))


def test_a_version_that_is_gone_is_told_from_other_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "said").write_text(OUTDATED)
    fake_apt(tmp_path / "bin", monkeypatch, apt_get=f"cat {tmp_path}/said >&2; exit 100")
    with pytest.raises(ListsOutdated, match=r"Failed to fetch http://deb/bash_5\.deb  404"):
        CHOSEN.fetch(tmp_path)
    with pytest.raises(AptError, match="Failed to fetch"):
        update_lists()
    (tmp_path / "said").write_text(OUTDATED.replace("404  Not Found", "Could not connect"))
    with pytest.raises(AptError) as told:
        CHOSEN.fetch(tmp_path)
    assert not isinstance(told.value, ListsOutdated)


def fake_apt(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, script in scripts.items():
        program = folder / name.replace("_", "-")
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_packages_that_cannot_be_fetched_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    refuse = "echo 'W: old lists' >&2; echo 'E: Unable to fetch some archives.' >&2; exit 100"
    fake_apt(tmp_path / "bin", monkeypatch, apt_get=refuse)
    with pytest.raises(
        DutError,
        match=r"could not be fetched: Unable to fetch some archives \(expected a reachable",
    ):
        usable_image(lambda: CHOSEN, build)
    assert [path.name for path in cache.iterdir()] == ["lock"]


def test_one_kernel_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    (tmp_path / "depends").write_text(KERNEL_DEPENDS)
    print_uris = "for name; do echo \"'http://x' ${name}_1_amd64.deb 7 SHA256:1\"; done"
    fake_apt(
        tmp_path / "bin",
        monkeypatch,
        apt_cache=f"cat {tmp_path}/depends",
        apt_get=f"shift {len(AS_ROOT) + 2}; {print_uris}",
    )
    assert [name for name in chosen_packages().names if name.startswith("linux-")] == [
        "linux-headers-6.12-cloud-amd64",
        "linux-headers-6.12-common",
        "linux-image-6.12-cloud-amd64",
        "linux-kbuild-6.12",
    ]


def test_packages_that_apt_does_not_know_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    fake_apt(
        tmp_path / "bin",
        monkeypatch,
        apt_cache="printf 'bash\\n  Depends: libc6\\n'",
        apt_get="echo \"'http://x/bash.deb' bash_5_amd64.deb 7 SHA256:1\"",
    )
    with pytest.raises(DutError, match=r"apt knows 1 of the \d+ packages .* run apt-get update"):
        chosen_packages()


def test_a_machine_without_apt_or_of_another_kind_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DutError, match=r"`apt-cache` is not installed.*expected Debian"):
        chosen_packages()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(DutError, match="cannot be built on aarch64"):
        chosen_packages()


def test_the_checksums_are_those_of_the_files() -> None:
    made = usable_image(lambda: CHOSEN, make)
    written = json.loads((made / image.CHECKSUMS).read_text())
    # printf kernel | sha256sum
    assert written["vmlinuz"].startswith("6923dd1bc0460082")
