"""What a front over aiohttp's low-level server does with the bodies and answers of the protocol."""

from __future__ import annotations

from aiohttp import web

from backend.protocol_checks import MAX_BODY, answer_headers, compress, wants_gzip


async def read_body(request: web.BaseRequest) -> bytes | None:
    """The whole body, or None when it is over the protocol's limit, however it was sent."""
    length = request.content_length
    if length is not None:
        return None if length > MAX_BODY else await request.content.read()
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > MAX_BODY:
            return None
    return bytes(body)


def too_large(request_id: str) -> web.Response:
    """413, of no body and no announced length, as the service sends it."""
    response = web.Response(status=413, headers={"x-amzn-RequestId": request_id})
    response.enable_chunked_encoding()
    return response


def respond(
    request: web.BaseRequest, status: int, body: bytes, request_id: str, extra: dict[str, str] | None = None
) -> web.Response:
    """The answer of an operation, compressed if the client asked for it; `extra` headers come on top."""
    headers = request.headers
    if wants_gzip(headers, body):
        body = compress(body)
        extra = {**(extra or {}), "Content-Encoding": "gzip"}
    answered = answer_headers(headers, body, request_id)
    if extra:
        answered.update(extra)
    return web.Response(status=status, headers=answered, body=body)
