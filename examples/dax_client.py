"""The official DAX client for Python, unmodified, against a cluster on this machine.

python examples/dax_client.py
"""

import boto3
from amazondax import AmazonDaxClient

from cluster.local import local_cluster

with local_cluster(nodes=3) as cluster:
    boto3.resource("dynamodb", **cluster.boto3_settings("store")).create_table(
        TableName="Books",
        AttributeDefinitions=[{"AttributeName": "Isbn", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "Isbn", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )

    # The one line that a program changes: its DynamoDB resource becomes a DAX resource.
    settings = {**cluster.boto3_settings(), "endpoint_url": cluster.dax_endpoint}
    with AmazonDaxClient.resource(**settings) as dax:
        books = dax.Table("Books")
        books.put_item(Item={"Isbn": "0-201-03801-3", "Title": "The Art of Computer Programming", "Sold": 1})
        books.update_item(
            Key={"Isbn": "0-201-03801-3"},
            UpdateExpression="SET Sold = Sold + :one",
            ExpressionAttributeValues={":one": 1},
        )
        cluster.wait_for_replication()
        for _ in range(3):  # from whichever node the client picks
            book = books.get_item(Key={"Isbn": "0-201-03801-3"})["Item"]
            print(f"{book['Title']}: {book['Sold']} sold")

    requests = sum(node["metrics"]["GetItemRequestCount"] for node in cluster.status()["nodes"])
    print(f"{requests} reads, by one node or another")
