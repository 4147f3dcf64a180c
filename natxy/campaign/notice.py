"""Notices of a campaign: what disturbs its cells, and what happens to its testbeds."""

from natxy.model.coded import Fact, Sentences, Statement


class Event(Sentences):
    # Of testbeds on one machine.
    SHARED_CPU = (
        "CPU {cpu} has several users ({who}): their figures disturb each other (expected other "
        "CPUs in tester.cores and dut.gateway_cpu)."
    )
    SHARED_TABLE = (
        "Cells set {sizes} different sizes of the connection tracking table, which all labs of a "
        "machine share. Cells that run at once then make each other fail (expected equal "
        "conntrack_entries and hash_size in all cells, or testbeds on different machines)."
    )
    # Of the processes of testbeds.
    TESTBED_LEFT = (
        "The process of testbed {where} has left ({address}); its cell is measured again by the "
        "next free testbed process."
    )
    TESTBED_STARTED_AGAIN = (
        "The process of testbed {where} has left ({address}), and a new one has come; the cell of "
        "the first one is measured again."
    )
    TESTBED_CAME = "A process of testbed {where} has come ({address})."
    NO_TESTBED = "There is no testbed process left; the campaign goes on when one comes."


class Notice(Statement[Event, Fact]):
    """`where` is the number of a testbed."""
