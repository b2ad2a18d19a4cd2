"""A bulk load through the cache evicts the hot set; one around the cache does not.

python examples/bulk_load.py
"""

from typing import Any

import boto3

from cluster.local import local_cluster, served_from

HOT = [f"hot-{number}" for number in range(8)]

with local_cluster(item_cache_bytes=64 * 1024) as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    around = store.create_table(
        TableName="Catalogue",
        AttributeDefinitions=[{"AttributeName": "Sku", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "Sku", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    through = boto3.resource("dynamodb", **cluster.boto3_settings("node-1")).Table("Catalogue")

    def load(table: Any, prefix: str) -> None:
        with table.batch_writer() as batch:
            for number in range(150):
                batch.put_item(Item={"Sku": f"{prefix}-{number}", "Text": "x" * 600})

    def hits() -> int:
        answers = [through.get_item(Key={"Sku": sku}) for sku in HOT]
        return sum(served_from(answer) == "item-cache" for answer in answers)

    for sku in HOT:
        through.put_item(Item={"Sku": sku, "Text": "x" * 600})

    load(around, "around")
    found = hits()
    print(f"After loading 150 items around the cache: {found} of {len(HOT)} hot items are hits")
    assert found == len(HOT)

    load(through, "through")
    found = hits()
    print(f"After loading 150 items through the cache: {found} of {len(HOT)} hot items are hits")
    assert found == 0
