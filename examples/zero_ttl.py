"""TTL 0 means for ever in the item cache, and never in the query cache.

python examples/zero_ttl.py
"""

import boto3

from cluster.local import local_cluster, served_from

with local_cluster(item_ttl=0, query_ttl=0) as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    editor = store.create_table(
        TableName="Countries",
        AttributeDefinitions=[{"AttributeName": "Country", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "Country", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    editor.put_item(Item={"Country": "IS", "Currency": "ISK"})
    countries = boto3.resource("dynamodb", **cluster.boto3_settings("node-1")).Table("Countries")

    countries.get_item(Key={"Country": "IS"})
    for _ in range(2):
        answer = countries.scan()
        print(f"A Scan, from the {served_from(answer)}")
        assert served_from(answer) == "store"

    cluster.advance(365 * 24 * 3600)
    answer = countries.get_item(Key={"Country": "IS"})
    print(f"A year later the item comes from the {served_from(answer)}")
    assert served_from(answer) == "item-cache"
