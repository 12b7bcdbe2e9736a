"""A server of FastMCP that is its own issuer."""

from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from serve import Controlled, listen, run

listening, origin = listen()
provider = InMemoryOAuthProvider(
    base_url=origin,
    client_registration_options=ClientRegistrationOptions(enabled=True),
    revocation_options=RevocationOptions(enabled=True),
)
mcp = FastMCP("issuer", auth=provider)


@mcp.tool
def add(a: int, b: int) -> int:
    return a + b


run(Controlled(mcp.http_app(), provider.clients, provider.access_tokens), listening, origin)
