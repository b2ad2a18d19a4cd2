"""Three cache nodes in front of a table store, and boto3 that knows nothing of them.

python examples/quickstart.py
"""

import boto3

from cluster.local import local_cluster, served_from

with local_cluster(nodes=3) as cluster:
    # Tables are made in the store: a DAX cluster has no operations on tables.
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    store.create_table(
        TableName="Books",
        AttributeDefinitions=[{"AttributeName": "Isbn", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "Isbn", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )

    # Everything else goes through the cluster, as it would go to DynamoDB.
    books = boto3.resource("dynamodb", **cluster.boto3_settings()).Table("Books")
    books.put_item(Item={"Isbn": "0-201-03801-3", "Title": "The Art of Computer Programming"})
    answer = books.get_item(Key={"Isbn": "0-201-03801-3"})

    print(f"{answer['Item']['Title']}, from the {served_from(answer)}")
    assert served_from(answer) == "item-cache"

    answer = books.get_item(Key={"Isbn": "not there"})
    print(f"{answer.get('Item')}, from the {served_from(answer)}")
    answer = books.get_item(Key={"Isbn": "not there"})
    print(f"{answer.get('Item')}, from a {served_from(answer)}")
    assert served_from(answer) == "negative-entry"
