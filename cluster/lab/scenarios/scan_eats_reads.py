"""One page of a Scan uses up the table's reads, and a small GetItem is throttled; short pages leave room."""

from __future__ import annotations

from collections.abc import Iterator

from backend.errors import ServiceError
from cluster.lab.client import Client
from cluster.lab.history import STORE, History
from cluster.lab.story import CAPACITY, Stage, Story
from cluster.lab.units import consumed, none_refused, some_throttled
from cluster.lab.verdict import Finding, refused, succeeded

READ = 20
ITEMS, PACED_PAGES = 24, 4
TEXT = "x" * 50_000


async def look_up(client: Client) -> None:
    try:
        await client.get_item(
            TableName="Reports",
            Key={"Id": {"N": "1"}},
            ProjectionExpression="Id",
            ReturnConsumedCapacity="TOTAL",
        )
    except ServiceError as refusal:
        if refusal.code != "ProvisionedThroughputExceededException":
            raise


async def play(stage: Stage) -> None:
    items = [{"Id": {"N": str(n)}, "Text": {"S": TEXT}} for n in range(ITEMS)]
    await stage.table("Reports", "Id:N", items=items)
    app, report = stage.client("app", through=STORE), stage.client("report", through=STORE)
    await stage.client("owner", through=STORE).update_table(
        TableName="Reports",
        BillingMode="PROVISIONED",
        ProvisionedThroughput={"ReadCapacityUnits": READ, "WriteCapacityUnits": 100},
    )
    await look_up(app)
    await stage.advance(1)
    stage.say("A report scans the table, 1 MB a page.")
    await report.scan(TableName="Reports", ProjectionExpression="Id", ReturnConsumedCapacity="TOTAL")
    await look_up(app)
    await stage.advance(10)
    await look_up(app)

    stage.say("The same report with pages of two items and a pause after each.")
    position = None
    for _ in range(PACED_PAGES):
        await stage.advance(1)
        page = await report.scan(
            TableName="Reports",
            ProjectionExpression="Id",
            Limit=2,
            ReturnConsumedCapacity="TOTAL",
            **({} if position is None else {"ExclusiveStartKey": position}),
        )
        position = page.response.get("LastEvaluatedKey")
        await look_up(app)


def judge(history: History) -> Iterator[Finding]:
    gets, (whole, *paced) = history.of("app", "GetItem"), history.of("report", "Scan")
    before, after, later, *between = gets
    yield succeeded(before)
    yield Finding(
        consumed(whole) > 5 * READ,
        f"a page of the scan costs more than five seconds of the {READ} read units a second",
        f"{whole} consumed {consumed(whole):g} units",
    )
    yield refused(after, "ProvisionedThroughputExceededException")
    yield some_throttled([after], "TableReadProvisionedThroughputExceeded", "the application")
    yield succeeded(later)
    yield none_refused(paced, "the paced scan")
    yield none_refused(between, "the application beside it")


STORY = Story(
    name="scan-eats-reads",
    title="A Scan eats the table's read units",
    lesson="Scan in small pages with pauses, or elsewhere: one page of 1 MB costs 128 units at once.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-query-scan.html",
    settings={"throttling": True},
    play=play,
    judge=judge,
    group=CAPACITY,
)
