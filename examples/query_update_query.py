"""A cached Query result does not know of items written after it, and a Scan does not warm the item cache.

python examples/query_update_query.py
"""

import boto3
from boto3.dynamodb.conditions import Key

from cluster.local import local_cluster, served_from

with local_cluster(query_ttl=300) as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    stored = store.create_table(
        TableName="DocumentRevisions",
        AttributeDefinitions=[
            {"AttributeName": "DocId", "AttributeType": "N"},
            {"AttributeName": "RevisionNumber", "AttributeType": "N"},
        ],
        KeySchema=[
            {"AttributeName": "DocId", "KeyType": "HASH"},
            {"AttributeName": "RevisionNumber", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    for number in (4, 5, 6):
        stored.put_item(Item={"DocId": 101, "RevisionNumber": number})

    revisions = boto3.resource("dynamodb", **cluster.boto3_settings("node-1")).Table("DocumentRevisions")
    from_five = Key("DocId").eq(101) & Key("RevisionNumber").gte(5)

    def listed() -> list[int]:
        answer = revisions.query(KeyConditionExpression=from_five)
        numbers = [int(item["RevisionNumber"]) for item in answer["Items"]]
        print(f"Revisions {numbers}, from the {served_from(answer)}")
        return numbers

    assert listed() == [5, 6]
    revisions.put_item(Item={"DocId": 101, "RevisionNumber": 20})
    assert listed() == [5, 6]

    # The item cache is another cache, and has the new revision.
    answer = revisions.get_item(Key={"DocId": 101, "RevisionNumber": 20})
    print(f"Revision 20 by its key, from the {served_from(answer)}")
    assert served_from(answer) == "item-cache"

    cluster.advance(301)
    assert listed() == [5, 6, 20]

    # Reading everything by a Scan puts no item into the item cache.
    revisions.scan()
    answer = revisions.get_item(Key={"DocId": 101, "RevisionNumber": 6})
    print(f"Revision 6 after a Scan, from the {served_from(answer)}")
    assert served_from(answer) == "store"
