"""PynamoDB as anybody writes it: models that know nothing of this project, against a node and the store."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pynamodb.attributes import (
    BinaryAttribute,
    BooleanAttribute,
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    NumberSetAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
    VersionAttribute,
)
from pynamodb.connection import Connection
from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError, UpdateError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, LocalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite

pytestmark = [pytest.mark.live, pytest.mark.clients]


def models(url: str, tables_url: str) -> tuple[type[Model], type[Model]]:
    """(the model that a program uses, the same model for making its table)."""

    def build(host: str) -> Any:
        class Settings:
            table_name = "threads"
            region = "us-east-1"
            aws_access_key_id = "AKIDEXAMPLE"
            aws_secret_access_key = "secret"
            billing_mode = "PAY_PER_REQUEST"
            max_retry_attempts = 0

        Settings.host = host

        class ByViews(LocalSecondaryIndex):
            class Meta:
                index_name = "by-views"
                projection = AllProjection()

            forum = UnicodeAttribute(hash_key=True)
            views = NumberAttribute(range_key=True)

        class ByAuthor(GlobalSecondaryIndex):
            class Meta:
                index_name = "by-author"
                projection = AllProjection()
                billing_mode = "PAY_PER_REQUEST"

            author = UnicodeAttribute(hash_key=True)
            subject = UnicodeAttribute(range_key=True)

        class Place(MapAttribute):
            city = UnicodeAttribute()
            floor = NumberAttribute(null=True)

        class Thread(Model):
            Meta = Settings
            forum = UnicodeAttribute(hash_key=True)
            subject = UnicodeAttribute(range_key=True)
            views = NumberAttribute(default=0)
            author = UnicodeAttribute(null=True)
            tags = UnicodeSetAttribute(null=True)
            scores = NumberSetAttribute(null=True)
            blob = BinaryAttribute(null=True, legacy_encoding=False)
            open = BooleanAttribute(default=True)
            posted = UTCDateTimeAttribute(null=True)
            extra = JSONAttribute(null=True)
            replies = ListAttribute(default=list)
            place = Place(null=True)
            version = VersionAttribute()
            by_views = ByViews()
            by_author = ByAuthor()

        return Thread

    return build(url), build(tables_url)


def script(url: str, tables_url: str) -> list[Any]:
    """What a program sees of its models."""
    thread, tables = models(url, tables_url)
    tables.create_table(wait=True)
    seen: list[Any] = [tables.exists()]
    posted = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    first = thread(
        "books", "first", views=3, author="ada", tags={"a", "b"}, scores={1, 2.5}, blob=b"\x00\xff",
        posted=posted, extra={"k": [1]}, place={"city": "London", "floor": 2},
    )  # fmt: skip
    first.save(condition=thread.forum.does_not_exist())
    seen.append(first.version)
    with thread.batch_write() as batch:
        for number in range(40):
            author = "bob" if number % 2 else None
            batch.save(thread("films", f"film-{number:02}", views=number, author=author))
        batch.save(thread("books", "second", views=1, author="ada"))
    read = thread.get("books", "first")
    seen.append(plain(read))
    read.update(
        actions=[
            thread.views.set(thread.views + 1),
            thread.replies.set(thread.replies.append(["me too"])),
            thread.tags.delete({"a"}),
            thread.scores.add({7}),
            thread.author.remove(),
            thread.place.city.set("Paris"),
        ],
        condition=(thread.views < 10) & thread.tags.contains("a") & ~thread.subject.startswith("x"),
    )
    seen.append(plain(read))
    seen.append(plain(thread.get("books", "first", consistent_read=True)))
    seen += list(refusals(thread, first))
    seen.append([one.subject for one in thread.query("films", thread.subject.between("film-05", "film-09"))])
    seen.append(
        [
            one.subject
            for one in thread.query(
                "films",
                filter_condition=thread.author.exists(),
                scan_index_forward=False,
                limit=5,
                page_size=3,
            )
        ]
    )
    seen.append(
        [one.views for one in thread.by_views.query("films", thread.views > 35, scan_index_forward=False)]
    )
    seen.append([one.subject for one in thread.by_author.query("bob", thread.subject.startswith("film-1"))])
    seen.append(thread.count("films", filter_condition=thread.views.is_in(1, 2, 3, 99)))
    seen.append(sorted(one.subject for one in thread.scan(thread.open == True, page_size=11)))  # noqa: E712
    keys = [("films", f"film-{number:02}") for number in range(38, 44)]
    seen.append(sorted(one.subject for one in thread.batch_get(keys)))
    pages = thread.query("films", limit=4)
    names = [one.subject for one in pages]
    following = thread.query("films", limit=2, last_evaluated_key=pages.last_evaluated_key)
    seen.append((names, [one.subject for one in following]))
    seen += transactions(thread, url)
    return seen


def plain(one: Any) -> dict[str, Any]:
    """The attributes of a model, its sets in an order of their own."""
    shown = one.to_simple_dict(force=True)
    return {name: sorted(value) if name in ("tags", "scores") else value for name, value in shown.items()}


def refusals(thread: Any, stale: Any) -> Iterator[Any]:
    """What the program is refused, by exception and code."""
    with pytest.raises(DoesNotExist):
        thread.get("books", "none")
    with pytest.raises(PutError) as refused:
        stale.save()
    yield refused.value.cause_response_code
    with pytest.raises(UpdateError) as refused_update:
        thread("books", "second").update(actions=[thread.views.set(5)], condition=thread.views == 77)
    yield refused_update.value.cause_response_code, refused_update.value.cause_response_message


def transactions(thread: Any, url: str) -> Iterator[Any]:
    connection = Connection(region="us-east-1", host=url)
    connection.session.set_credentials("AKIDEXAMPLE", "secret")
    with TransactWrite(connection=connection, client_request_token="pynamodb") as together:
        together.save(thread("deal", "one", views=1))
        together.condition_check(thread, "books", "second", condition=thread.views.exists())
        together.delete(thread("books", "never"))
    refused = TransactWrite(connection=connection)
    refused.save(thread("deal", "two"))
    refused.condition_check(thread, "deal", "one", condition=thread.views > 5)
    with pytest.raises(TransactWriteError) as cancelled:
        refused._commit()
    yield [reason and reason.code for reason in cancelled.value.cancellation_reasons]
    with TransactGet(connection=connection) as reads:
        one, two = reads.get(thread, "deal", "one"), reads.get(thread, "deal", "two")
    yield plain(one.get())
    with pytest.raises(DoesNotExist):
        two.get()


@pytest.fixture
def seen_at(start_cluster: Callable[..., Any]) -> Callable[[str], list[Any]]:
    """`seen_at("node" | "store")`: what the script sees there, on a cluster of its own."""

    def run(where: str) -> list[Any]:
        cluster = start_cluster().cluster
        url = {"node": cluster.endpoint, "store": cluster.store_endpoint}[where]
        return script(url, cluster.store_endpoint)

    return run


def test_the_script_sees_the_same_on_a_node_and_on_the_store(seen_at: Callable[[str], list[Any]]) -> None:
    seen = seen_at("node")
    for number, (on_node, on_store) in enumerate(zip(seen, seen_at("store"), strict=True)):
        assert on_node == on_store, number


def test_the_script_sees_what_dynamodb_would_show(seen_at: Callable[[str], list[Any]]) -> None:
    exists, version, read, updated, again, put, update, *queries, reasons, one = seen_at("store")
    assert (exists, version, read["place"], read["scores"]) == (
        True,
        1,
        {"city": "London", "floor": 2},
        [1, 2.5],
    )
    assert updated == again
    assert (updated["views"], updated["replies"], updated["tags"]) == (4, ["me too"], ["b"])
    assert (updated["place"]["city"], updated["version"], "author" in updated) == ("Paris", 2, False)
    assert put == "ConditionalCheckFailedException"
    assert update == ("ConditionalCheckFailedException", "The conditional request failed")
    between, backwards, by_views, by_author, count, scanned, batch, pages = queries
    assert between == [f"film-0{number}" for number in range(5, 10)]
    assert backwards == [f"film-{number}" for number in (39, 37, 35, 33, 31)]
    assert by_views == [39, 38, 37, 36]
    assert by_author == [f"film-{number}" for number in range(11, 20, 2)]
    assert (count, len(scanned), batch) == (3, 42, ["film-38", "film-39"])
    assert pages == ([f"film-0{number}" for number in range(4)], ["film-04", "film-05"])
    # The library sends the condition checks of a transaction before its writes.
    assert reasons == ["ConditionalCheckFailed", None]
    assert (one["forum"], one["views"], one["version"]) == ("deal", 1, 1)
