"""Serves an MCP server of FastMCP that accepts the tokens of a realm of Keycloak."""

import asyncio
import json
import socket
import sys

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.auth.providers.keycloak import KeycloakAuthProvider
from fastmcp.server.dependencies import get_access_token
from pydantic import AnyHttpUrl

provider, issuer = sys.argv[1:]
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
# Connections wait until the server runs.
listening.listen()
origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
url = f"{origin}/mcp"

if provider == "KeycloakAuthProvider":
    auth = KeycloakAuthProvider(realm_url=issuer, base_url=origin, audience=url)
else:
    verifier = JWTVerifier(
        jwks_uri=f"{issuer}/protocol/openid-connect/certs",
        issuer=issuer,
        audience=url,
        required_scopes=["notes:read"],
    )
    auth = RemoteAuthProvider(
        token_verifier=verifier,
        authorization_servers=[AnyHttpUrl(issuer)],
        base_url=origin,
    )

mcp = FastMCP("issuer", auth=auth)


@mcp.tool
def whoami() -> str:
    token = get_access_token()
    return json.dumps({"subject": token.claims.get("sub") if token else None})


async def main() -> None:
    server = uvicorn.Server(uvicorn.Config(mcp.http_app(), log_level="warning"))
    print(url, flush=True)
    await server.serve(sockets=[listening])


asyncio.run(main())
