"""What aiohttp costs by itself: the same bytes to every request, on the event loop that our nodes use.

python -m benchmarks.bare_aiohttp application|low-level PORT BASE64-BODY
"""

from __future__ import annotations

import asyncio
import base64
import sys

from aiohttp import web

from cluster.runtime import live


async def serve(kind: str, port: int, body: bytes) -> None:
    async def handle(_request: web.BaseRequest) -> web.Response:
        return web.Response(body=body, content_type="application/x-amz-json-1.0")

    runner: web.AppRunner | web.ServerRunner
    if kind == "application":
        application = web.Application()
        application.router.add_route("*", "/", handle)
        runner = web.AppRunner(application, access_log=None)
    else:
        runner = web.ServerRunner(web.Server(handle, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    live.run(serve(sys.argv[1], int(sys.argv[2]), base64.b64decode(sys.argv[3])))
