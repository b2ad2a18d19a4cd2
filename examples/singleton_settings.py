"""One settings item for the whole application, changed on a version condition: no update is lost.

python examples/singleton_settings.py
"""

import boto3
from boto3.dynamodb.conditions import Attr
from botocore.exceptions import ClientError

from cluster.local import local_cluster, served_from

FLAGS = {"PK": "SETTINGS#APP", "SK": "FLAGS#V1"}

with local_cluster() as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    stored = store.create_table(
        TableName="App",
        AttributeDefinitions=[
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    stored.put_item(Item={**FLAGS, "signup_enabled": False, "maintenance_mode": True, "version": 1})
    app = boto3.resource("dynamodb", **cluster.boto3_settings("node-1")).Table("App")

    def switch(flag: str, on: bool, version: int) -> bool:
        """Set one flag if nobody has changed the settings since `version`."""
        try:
            app.update_item(
                Key=FLAGS,
                UpdateExpression="SET #flag = :on, version = :next",
                ConditionExpression=Attr("version").eq(version),
                ExpressionAttributeNames={"#flag": flag},
                ExpressionAttributeValues={":on": on, ":next": version + 1},
            )
        except ClientError as refusal:
            if refusal.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            print(f"{flag}: somebody was faster")
            return False
        print(f"{flag} is now {on}")
        return True

    # Two administrators have read version 1.
    seen = int(app.get_item(Key=FLAGS)["Item"]["version"])
    assert switch("signup_enabled", True, seen)
    assert not switch("maintenance_mode", False, seen)
    # The second one reads again, past the cache, and tries again.
    seen = int(app.get_item(Key=FLAGS, ConsistentRead=True)["Item"]["version"])
    assert switch("maintenance_mode", False, seen)

    answer = app.get_item(Key=FLAGS)
    settings = answer["Item"]
    print(f"Version {settings['version']}, from the {served_from(answer)}")
    assert (settings["signup_enabled"], settings["maintenance_mode"], settings["version"]) == (True, False, 3)
