"""The conditions of a stateful gateway's figure, which the result must contain (RFC 9693)."""

from natxy.dut.base import Dut
from natxy.errors import DutError
from natxy.model.measurement import Conditions, ConnectionConditions
from natxy.trial.connection_table import parameters_of
from natxy.trial.maximum import media_fps
from natxy.trial.session import Session


def connection_conditions(session: Session) -> ConnectionConditions | None:
    """Returns the conditions of connections; None if the gateway is stateless."""
    traffic = session.traffic
    asked = traffic.connections
    if asked is None:
        return None
    table = parameters_of(session.dut)
    return ConnectionConditions(
        initiator=asked.initiator,
        transport=asked.transport,
        count=traffic.connections_among(asked.count),
        rate_fps=asked.rate_fps,
        rate_origin=session.phase_1_origin,
        order=asked.order,
        ranges=str(traffic.ranges),
        initiator_order=asked.initiator_order,
        responder_order=asked.responder_order,
        table_entries=table.entries,
        hash_size=table.hash_size,
        timeout_s=table.timeout_s,
        logging=_logging(session.dut),
    )


def of_phase_1(
    conditions: Conditions,
    session: Session,
    *,
    validated: bool = False,
    rate_is_sought: bool = True,
) -> Conditions:
    """Returns the conditions of a measurement without phase 2.

    Only the initiator sends, and the duration of a trial follows from the number of connections.
    The media's rate is that of the frames that make and close connections.
    """
    of = conditions.connections
    assert of is not None, "a stateless gateway was refused"
    connections = of.model_copy(
        update={
            "rate_fps": None if rate_is_sought else of.rate_fps,
            "initiator_order": "",
            "responder_order": "",
            "validated": validated,
        }
    )
    traffic = session.traffic
    return conditions.model_copy(
        update={
            "direction": "forward" if of.initiator == "left" else "reverse",
            "duration_s": None,
            "theoretical_fps": media_fps(session.hello, traffic, traffic.sizes.connecting_bytes),
            "connections": connections,
        }
    )


def _logging(dut: Dut) -> str | None:
    """Returns how the gateway logs connections, which slows it (MP 13.4.2); None: unknown."""
    try:
        return dut.describe().get("logging")
    except DutError:
        return None


def of_several(conditions: Conditions, *, tables_differ: bool = False) -> Conditions:
    """Returns the conditions of a series over numbers of connections.

    They omit the number of connections, which each figure states; the same applies to sizes and
    timeout of the table if these differ.
    """
    if conditions.connections is None:
        return conditions
    changed: dict[str, object] = {"count": None, "ranges": ""}
    if tables_differ:
        changed |= dict.fromkeys(("table_entries", "hash_size", "timeout_s"))
    connections = conditions.connections.model_copy(update=changed)
    return conditions.model_copy(update={"connections": connections})
