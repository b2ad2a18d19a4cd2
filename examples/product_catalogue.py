"""A cached 42 becomes 41, because the write goes through the cluster.

python examples/product_catalogue.py
"""

import boto3

from cluster.local import local_cluster, served_from

with local_cluster(item_ttl=600) as cluster:
    store = boto3.resource("dynamodb", **cluster.boto3_settings("store"))
    products = store.create_table(
        TableName="ProductCatalog",
        AttributeDefinitions=[{"AttributeName": "Id", "AttributeType": "N"}],
        KeySchema=[{"AttributeName": "Id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    products.put_item(Item={"Id": 101, "Title": "Bicycle", "QuantityOnHand": 42})

    shop = boto3.resource("dynamodb", **cluster.boto3_settings("node-2")).Table("ProductCatalog")
    warehouse = boto3.resource("dynamodb", **cluster.boto3_settings("node-3")).Table("ProductCatalog")

    answer = shop.get_item(Key={"Id": 101})
    print(f"The shop sees {answer['Item']['QuantityOnHand']}, from the {served_from(answer)}")

    cluster.advance(180)
    warehouse.update_item(
        Key={"Id": 101},
        UpdateExpression="SET QuantityOnHand = QuantityOnHand - :sold",
        ExpressionAttributeValues={":sold": 1},
    )
    cluster.wait_for_replication()

    answer = shop.get_item(Key={"Id": 101})
    print(f"The shop sees {answer['Item']['QuantityOnHand']}, from the {served_from(answer)}")
    assert answer["Item"]["QuantityOnHand"] == 41
    assert served_from(answer) == "item-cache"
