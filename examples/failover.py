"""The primary dies: reads go on at once, writes after a replica has taken over.

python examples/failover.py
"""

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from cluster.local import local_cluster, served_from

ONCE = Config(retries={"total_max_attempts": 1})


with local_cluster(nodes=3, failover_delay=30) as cluster:

    def roles() -> str:
        return ", ".join(f"{n['node']} {n.get('role', n['state'])}" for n in cluster.status()["nodes"])

    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    store.create_table(
        TableName="Carts",
        AttributeDefinitions=[{"AttributeName": "User", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "User", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    carts = boto3.resource("dynamodb", config=ONCE, **cluster.boto3_settings("node-2")).Table("Carts")
    carts.put_item(Item={"User": "ann", "Items": 1})
    cluster.wait_for_replication()
    print(roles())

    cluster.kill("node-1")
    print(roles())
    answer = carts.get_item(Key={"User": "ann"})
    print(f"A read is answered from the {served_from(answer)}")
    try:
        carts.put_item(Item={"User": "ann", "Items": 2})
    except ClientError as refusal:
        print(f"A write is refused: {refusal.response['Error']['Code']}")
    else:
        raise AssertionError("there is no primary to write through")

    cluster.advance(31)
    print(roles())
    carts.put_item(Item={"User": "ann", "Items": 2})

    cluster.restart("node-1")
    print(roles())
    returned = boto3.resource("dynamodb", **cluster.boto3_settings("node-1")).Table("Carts")
    answer = returned.get_item(Key={"User": "ann"})
    print(f"The node that came back knows {answer['Item']['Items']} items, from its {served_from(answer)}")
    assert answer["Item"]["Items"] == 2
    assert served_from(answer) == "item-cache"
