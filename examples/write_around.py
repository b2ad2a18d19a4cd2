"""Alice writes through the cache and Bob around it: for a whole TTL they see different prices.

python examples/write_around.py
"""

import boto3

from cluster.local import local_cluster

with local_cluster(item_ttl=300) as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    bob = store.create_table(
        TableName="ProductCatalog",
        AttributeDefinitions=[{"AttributeName": "Id", "AttributeType": "N"}],
        KeySchema=[{"AttributeName": "Id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    alice = boto3.resource("dynamodb", **cluster.boto3_settings()).Table("ProductCatalog")

    alice.put_item(Item={"Id": 101, "Price": 500})
    cluster.wait_for_replication()
    bob.put_item(Item={"Id": 101, "Price": 450})

    for_alice = alice.get_item(Key={"Id": 101})["Item"]["Price"]
    for_bob = bob.get_item(Key={"Id": 101})["Item"]["Price"]
    print(f"Alice reads {for_alice} from the cache, Bob reads {for_bob} from DynamoDB")
    assert (for_alice, for_bob) == (500, 450)

    cluster.advance(301)
    for_alice = alice.get_item(Key={"Id": 101})["Item"]["Price"]
    print(f"After the TTL Alice reads {for_alice}")
    assert for_alice == 450
