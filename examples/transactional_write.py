"""A transaction is acknowledged first, and reaches the item cache in the background.

python examples/transactional_write.py
"""

import boto3

from cluster.local import local_cluster

# The background read that follows a transaction waits ten seconds here, so that it can be watched.
with local_cluster(transaction_refresh_delay=10) as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    stored = store.create_table(
        TableName="Wallets",
        AttributeDefinitions=[{"AttributeName": "Owner", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "Owner", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    stored.put_item(Item={"Owner": "ann", "Coins": 10})
    stored.put_item(Item={"Owner": "ben", "Coins": 0})

    dynamodb = boto3.resource("dynamodb", **cluster.boto3_settings("node-1"))
    wallets = dynamodb.Table("Wallets")

    def coins() -> tuple[int, int]:
        ann, ben = (wallets.get_item(Key={"Owner": owner})["Item"]["Coins"] for owner in ("ann", "ben"))
        return int(ann), int(ben)

    print(f"Before: {coins()}")
    dynamodb.meta.client.transact_write_items(
        TransactItems=[
            {
                "Update": {
                    "TableName": "Wallets",
                    "Key": {"Owner": owner},
                    "UpdateExpression": "ADD Coins :coins",
                    "ExpressionAttributeValues": {":coins": amount},
                }
            }
            for owner, amount in (("ann", -3), ("ben", 3))
        ]
    )
    print(f"The transaction is acknowledged; the cache still says {coins()}")
    assert coins() == (10, 0)

    cluster.advance(11)
    print(f"After the background refresh: {coins()}")
    assert coins() == (7, 3)
