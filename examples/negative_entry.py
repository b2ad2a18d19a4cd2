"""The cache remembers that an item does not exist, and hides one that is created around it.

python examples/negative_entry.py
"""

import boto3

from cluster.local import local_cluster, served_from

with local_cluster(item_ttl=300) as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    stored = store.create_table(
        TableName="Users",
        AttributeDefinitions=[{"AttributeName": "UserName", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "UserName", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    users = boto3.resource("dynamodb", **cluster.boto3_settings("node-1")).Table("Users")

    answer = users.get_item(Key={"UserName": "dana"})
    print(f"Is there a dana? {'Item' in answer}, says the {served_from(answer)}")

    stored.put_item(Item={"UserName": "dana", "Plan": "basic"})
    answer = users.get_item(Key={"UserName": "dana"})
    print(f"Created around the cache. Is there a dana? {'Item' in answer}, says a {served_from(answer)}")
    assert served_from(answer) == "negative-entry"

    # A write through the cluster ends it at once; without one, the TTL does.
    users.put_item(Item={"UserName": "dana", "Plan": "premium"})
    answer = users.get_item(Key={"UserName": "dana"})
    print(f"Written through the cluster. Is there a dana? {'Item' in answer}, says the {served_from(answer)}")
    assert answer["Item"]["Plan"] == "premium"
