"""Two nodes of one cluster answer differently until replication catches up.

python examples/two_nodes_disagree.py
"""

import boto3

from cluster.local import local_cluster

with local_cluster(replication_delay=10) as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    tickets = store.create_table(
        TableName="Tickets",
        AttributeDefinitions=[{"AttributeName": "Id", "AttributeType": "N"}],
        KeySchema=[{"AttributeName": "Id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    tickets.put_item(Item={"Id": 7, "Status": "open"})

    alice = boto3.resource("dynamodb", **cluster.boto3_settings("node-1")).Table("Tickets")
    bob = boto3.resource("dynamodb", **cluster.boto3_settings("node-2")).Table("Tickets")

    alice.get_item(Key={"Id": 7})
    bob.get_item(Key={"Id": 7})

    alice.put_item(Item={"Id": 7, "Status": "closed"})
    for_alice = alice.get_item(Key={"Id": 7})["Item"]["Status"]
    for_bob = bob.get_item(Key={"Id": 7})["Item"]["Status"]
    print(f"At once: Alice's node says {for_alice}, Bob's says {for_bob}")
    assert (for_alice, for_bob) == ("closed", "open")

    cluster.advance(11)
    for_bob = bob.get_item(Key={"Id": 7})["Item"]["Status"]
    print(f"Ten seconds later: Bob's node says {for_bob}")
    assert for_bob == "closed"
