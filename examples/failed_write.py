"""A write that DynamoDB refuses leaves the cache untouched: throttled, or on its condition.

python examples/failed_write.py
"""

import boto3
from boto3.dynamodb.conditions import Attr
from botocore.config import Config
from botocore.exceptions import ClientError

from cluster.local import local_cluster, served_from

# boto3 would try a throttled write again until it succeeds; here we want to see the refusal.
ONCE = Config(retries={"total_max_attempts": 1})

with local_cluster() as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    store.create_table(
        TableName="Orders",
        AttributeDefinitions=[{"AttributeName": "OrderId", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "OrderId", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    orders = boto3.resource("dynamodb", config=ONCE, **cluster.boto3_settings("node-1")).Table("Orders")
    orders.put_item(Item={"OrderId": "o-17", "State": "placed"})

    def state() -> str:
        answer = orders.get_item(Key={"OrderId": "o-17"})
        print(f"  the order is {answer['Item']['State']}, says the {served_from(answer)}")
        return str(answer["Item"]["State"])

    def ship(expected: str) -> None:
        try:
            orders.put_item(
                Item={"OrderId": "o-17", "State": "shipped"}, ConditionExpression=Attr("State").eq(expected)
            )
            print("The write is accepted")
        except ClientError as refusal:
            print(f"The write is refused: {refusal.response['Error']['Code']}")

    cluster.throttle_store(writes=1)
    ship(expected="placed")
    assert state() == "placed"
    ship(expected="delivered")
    assert state() == "placed"
    ship(expected="placed")
    assert state() == "shipped"
