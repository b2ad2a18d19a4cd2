"""A strongly consistent read sees the new value, and leaves the cache as it was.

python examples/strong_read.py
"""

import boto3

from cluster.local import local_cluster, served_from

with local_cluster() as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    bank = store.create_table(
        TableName="Accounts",
        AttributeDefinitions=[{"AttributeName": "AccountId", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "AccountId", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    teller = boto3.resource("dynamodb", **cluster.boto3_settings("node-1")).Table("Accounts")
    key = {"AccountId": "acct-1"}

    bank.put_item(Item={**key, "Balance": 100})
    teller.get_item(Key=key)
    bank.put_item(Item={**key, "Balance": 60})

    strong = teller.get_item(Key=key, ConsistentRead=True)
    print(f"Strongly: {strong['Item']['Balance']} ({served_from(strong)})")
    eventual = teller.get_item(Key=key)
    print(f"Eventually: {eventual['Item']['Balance']} ({served_from(eventual)})")
    assert (strong["Item"]["Balance"], eventual["Item"]["Balance"]) == (60, 100)
