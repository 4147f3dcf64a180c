"""Limits of the system that a command may reach: each is a sentence, not a defect of Natxy."""

import errno
import resource

OPEN_FILES = 256  # an engine, a lab and their logs take a quarter of them
FEWEST_OPEN_FILES = 64
LIMITS = {  # by the error: what is used up, and the option of `ulimit` that shows the limit
    errno.EMFILE: ("open files", "-n"),
    errno.EAGAIN: ("processes and threads", "-u"),
    errno.ENOMEM: ("memory", "-v"),
    errno.EFBIG: ("size of a file", "-f"),
}
NO_THREAD = "can't start new thread"  # of a RuntimeError


def raise_open_files() -> None:
    """Raises the limit of open files if it is low; ConfigurationError if it stays too low."""
    from natxy.errors import ConfigurationError

    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _is_unlimited(now) or now >= OPEN_FILES:
        return
    wanted = OPEN_FILES if _is_unlimited(most) else min(OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    if wanted < FEWEST_OPEN_FILES:
        raise ConfigurationError(
            f"open files: {wanted} are too few (expected `ulimit -n` of {FEWEST_OPEN_FILES} or "
            "more)"
        )


def reached_by(error: Exception) -> str:
    """Returns a sentence about the limit that this error has reached; empty: none."""
    number = getattr(error, "errno", None)
    if isinstance(error, MemoryError):
        number = errno.ENOMEM
    elif isinstance(error, RuntimeError) and str(error) == NO_THREAD:
        number = errno.EAGAIN
    elif isinstance(error, ImportError) and not _is_unlimited(_address_space()):
        number = errno.ENOMEM  # a library that does not fit is an import that fails
    if number not in LIMITS:
        return ""
    what, option = LIMITS[number]
    return f"{what}: a limit of the system is reached (expected a higher `ulimit {option}`)"


def _address_space() -> int:
    return resource.getrlimit(resource.RLIMIT_AS)[0]


def _is_unlimited(limit: int) -> bool:
    return limit == resource.RLIM_INFINITY
