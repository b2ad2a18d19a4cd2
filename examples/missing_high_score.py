"""Charlie's new high score is in the table and not in his cached list.

python examples/missing_high_score.py
"""

import boto3
from boto3.dynamodb.conditions import Key

from cluster.local import local_cluster

with local_cluster(query_ttl=300) as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    game = store.create_table(
        TableName="GameScores",
        AttributeDefinitions=[
            {"AttributeName": "UserId", "AttributeType": "S"},
            {"AttributeName": "GameTitle", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "UserId", "KeyType": "HASH"},
            {"AttributeName": "GameTitle", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    game.put_item(Item={"UserId": "charlie", "GameTitle": "Meteor Blasters", "TopScore": 1000})
    charlie = boto3.resource("dynamodb", **cluster.boto3_settings("node-2")).Table("GameScores")

    def top_score() -> int:
        answer = charlie.query(KeyConditionExpression=Key("UserId").eq("charlie"))
        return int(answer["Items"][0]["TopScore"])

    print(f"Charlie's list says {top_score()}")

    # The game writes to DynamoDB directly.
    game.update_item(
        Key={"UserId": "charlie", "GameTitle": "Meteor Blasters"},
        UpdateExpression="SET TopScore = :score",
        ExpressionAttributeValues={":score": 9999},
    )
    print(f"He has just made 9999, and his list says {top_score()}")
    assert top_score() == 1000

    cluster.advance(301)
    print(f"After the TTL it says {top_score()}")
    assert top_score() == 9999
