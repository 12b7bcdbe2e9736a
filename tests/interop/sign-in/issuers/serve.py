"""Serves an MCP server whose issuer is under test, and lets the test change what the issuer announces and knows."""

import asyncio
import json
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
from mcp.shared.auth import OAuthClientInformationFull

METADATA = "/.well-known/oauth-authorization-server"


def listen() -> tuple[socket.socket, str]:
    """Returns a socket on loopback, at a port of the system, and its origin."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    # Connections wait until the server runs.
    listening.listen()
    return listening, f"http://127.0.0.1:{listening.getsockname()[1]}"


def client_by_hand(client_id: str, method: str, redirect_uri: str) -> OAuthClientInformationFull:
    secret = None if method == "none" else f"secret-of-{client_id}"
    return OAuthClientInformationFull(
        client_id=client_id,
        client_secret=secret,
        redirect_uris=[redirect_uri],
        token_endpoint_auth_method=method,
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
    )


class Controlled:
    """Adds the path /control to an application, and replaces the methods in its metadata.

    POST /control sets `methods`, adds `client` by hand, or drops the access tokens (`expire`). It answers with the number
    of registrations and of requests to the token endpoint since the last `reset`.
    """

    def __init__(self, app: Any, clients: dict[str, Any], access_tokens: dict[str, Any]) -> None:
        self.app = app
        self.clients = clients
        self.access_tokens = access_tokens
        self.methods: list[str] | None = None
        self.counts = {"registrations": 0, "tokenRequests": 0}

    async def __call__(self, scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        path = scope.get("path")
        if path == "/control":
            await self.control(receive, send)
        elif path == METADATA and self.methods is not None:
            await self.announce(scope, receive, send)
        else:
            if path == "/register":
                self.counts["registrations"] += 1
            if path == "/token":
                self.counts["tokenRequests"] += 1
            await self.app(scope, receive, send)

    async def control(self, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        command = json.loads((await receive())["body"] or b"{}")
        if "methods" in command:
            self.methods = command["methods"]
        if "client" in command:
            client = command["client"]
            self.clients[client["id"]] = client_by_hand(client["id"], client["method"], client["redirectUri"])
        if command.get("expire"):
            self.access_tokens.clear()
        if command.get("reset"):
            self.counts = {"registrations": 0, "tokenRequests": 0}
        answer = {**self.counts, "accessTokens": len(self.access_tokens)}
        await respond(send, 200, [(b"content-type", b"application/json")], json.dumps(answer).encode())

    async def announce(self, scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        parts: list[bytes] = []

        async def collect(message: Any) -> None:
            if message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        await self.app(scope, receive, collect)
        metadata = json.loads(b"".join(parts))
        metadata["token_endpoint_auth_methods_supported"] = self.methods
        await respond(send, 200, [(b"content-type", b"application/json")], json.dumps(metadata).encode())


async def respond(send: Any, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def run(app: Any, listening: socket.socket, origin: str) -> None:
    print(f"{origin}/mcp", flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
    asyncio.run(server.serve(sockets=[listening]))


if __name__ == "__main__":
    sys.exit("This module is imported by the servers beside it.")
