"""The DAX binary protocol, in both roles.

    front = BinaryFront(node, directory, lists, options, tasks=..., now=..., entropy=..., call_later=...)
    await loop.create_server(front, host, port)

Bytes go up and answers come down through layers that know nothing of those above them:

    server       transports, timers, back-pressure                the only asyncio
    service      what a node answers to each method
    requests, responses, errors    methods to operations and back: expressions, kwargs, keys, values, lists
    connection   bytes to events and back, by the table in `state`
    cbor         data items

What the bytes mean is described in `docs/dax-protocol.md`.
"""
