"""What UpdateTable answers: the table as it will be, with what takes time shown as under way.

Rules:

* the table is UPDATING, a new index CREATING, a deleted one DELETING, however short that lasts; UPDATING is
  also an index whose capacity changes, and encryption and warm throughput that do;
* a table whose protection against deletion, encryption or on-demand maximums change stays ACTIVE meanwhile;
* a stream, the billing mode and other settings are the new ones: whoever enables a stream finds its ARN here;
* the table class is the old one;
* provisioned units are the old ones, with the time at which their change began, unless the billing mode
  changes: then they are the new ones, none on demand;
* a maximum on demand that is removed is told as -1.

Public sources: the examples of `update-table` in the AWS CLI Command Reference; developer guide, "Increase
your existing DynamoDB table's warm throughput"; answers recorded on the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.protocol import Request

_UNITS = ("ReadCapacityUnits", "WriteCapacityUnits")
_TAKES_TIME = ("BillingMode", "ProvisionedThroughput", "StreamSpecification", "TableClass", "WarmThroughput")


def takes_no_time(request: Request) -> bool:
    """Whether the table stays ACTIVE: nothing changes that takes time, nor of an index but its maximums."""
    updates = request.get("GlobalSecondaryIndexUpdates") or ()
    light = all(set(update.get("Update", ())) == {"IndexName", "OnDemandThroughput"} for update in updates)
    return light and all(request.get(name) is None for name in _TAKES_TIME)


def answer(
    request: Request, before: Mapping[str, Any], after: Mapping[str, Any], now: float
) -> dict[str, Any]:
    """The TableDescription for a request that turned the description `before` into `after`."""
    switched = _mode(before) != _mode(after)
    shown = {**after, "TableStatus": "ACTIVE" if takes_no_time(request) else "UPDATING"}
    asked = request.get("ProvisionedThroughput")
    shown["ProvisionedThroughput"] = _throughput(before, after, asked, now, switched=switched)
    if switched and _mode(after) == "PAY_PER_REQUEST":
        shown["BillingModeSummary"] = {"BillingMode": "PAY_PER_REQUEST"}
    _show_limits(shown, request, before)
    if request.get("SSESpecification") is not None:
        shown["SSEDescription"] = {**before.get("SSEDescription", {}), "Status": "UPDATING"}
    if request.get("TableClass") is not None:
        shown["TableClassSummary"] = before.get("TableClassSummary")
    indexes = _indexes(request, before, after, now, switched=switched)
    if indexes:
        shown["GlobalSecondaryIndexes"] = indexes
    if any("Delete" in update for update in request.get("GlobalSecondaryIndexUpdates") or ()):
        shown["AttributeDefinitions"] = before["AttributeDefinitions"]
    return {name: part for name, part in shown.items() if part is not None}


def _mode(description: Mapping[str, Any]) -> str:
    mode: str = description.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    return mode


def _throughput(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    asked: Mapping[str, int] | None,
    now: float,
    *,
    switched: bool,
) -> dict[str, Any]:
    """The ProvisionedThroughput of a table or an index of which `asked` is wanted."""
    old, new = before["ProvisionedThroughput"], after["ProvisionedThroughput"]
    shown = {**old, **{name: new[name] for name in _UNITS}} if switched else dict(old)
    if switched or asked is not None:
        changes = [new[name] - old[name] for name in _UNITS]
        if max(changes) > 0:
            shown["LastIncreaseDateTime"] = now
        if min(changes) < 0:
            shown["LastDecreaseDateTime"] = now
    return shown


def _indexes(
    request: Request, before: Mapping[str, Any], after: Mapping[str, Any], now: float, *, switched: bool
) -> list[dict[str, Any]]:
    """The global indexes: those that there were, in their order, and the new one."""
    updates = request.get("GlobalSecondaryIndexUpdates") or ()
    changed = {update["Update"]["IndexName"]: update["Update"] for update in updates if "Update" in update}
    deleted = {update["Delete"]["IndexName"] for update in updates if "Delete" in update}
    left = {one["IndexName"]: one for one in after.get("GlobalSecondaryIndexes", ())}
    shown = []
    for old in before.get("GlobalSecondaryIndexes", ()):
        name = old["IndexName"]
        new = left.pop(name, old)
        if name in deleted:
            shown.append({**old, "IndexStatus": "DELETING"})
        elif name in changed or switched:
            shown.append(_changing(changed.get(name, {}), old, new, now, switched=switched))
        else:
            shown.append(new)
    coming = {"IndexStatus": "CREATING", "Backfilling": False, "IndexSizeBytes": 0, "ItemCount": 0}
    return [*shown, *({**one, **coming} for one in left.values())]


def _changing(
    update: Mapping[str, Any], old: Mapping[str, Any], new: Mapping[str, Any], now: float, *, switched: bool
) -> dict[str, Any]:
    asked = update.get("ProvisionedThroughput")
    shown = {**new, "IndexStatus": "UPDATING"}
    shown["ProvisionedThroughput"] = _throughput(old, new, asked, now, switched=switched)
    _show_limits(shown, update, old)
    return shown


def _show_limits(shown: dict[str, Any], asked: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """What a table or an index takes at once and at most on demand, as it is `asked` for."""
    if asked.get("WarmThroughput") is not None:
        shown["WarmThroughput"] = {**shown["WarmThroughput"], "Status": "UPDATING"}
    if asked.get("OnDemandThroughput") is not None:
        shown["OnDemandThroughput"] = {**before.get("OnDemandThroughput", {}), **asked["OnDemandThroughput"]}
