import { expect, test } from "vitest";
import type { JsonObject, JsonRpcRequest } from "../rpc/messages.ts";
import type { ClientCapabilities } from "../mcp/capabilities.ts";
import { modernPeer, peerTransports } from "../testing/peer-transports.ts";
import { openClient } from "./open-client.ts";
import type { ConnectOptions } from "./options.ts";

const way = "com.example/way";

/** Returns the extensions that a client declares if its transport is itself an extension. */
async function declared(extensions?: ConnectOptions["extensions"]): Promise<unknown> {
  const peer = modernPeer();
  const client = await openClient({ ...peerTransports(peer), extension: way }, extensions ? { extensions } : {});
  const [discover] = peer.arrived.map(({ message }) => message as JsonRpcRequest);
  await client.close();
  const meta = discover?.params?._meta as JsonObject;
  return (meta["io.modelcontextprotocol/clientCapabilities"] as ClientCapabilities).extensions;
}

test.each<[string, ConnectOptions["extensions"], object]>([
  ["alone", undefined, { [way]: {} }],
  [
    "together with extensions that have only settings",
    { "com.example/x": { a: 1 } },
    { "com.example/x": { a: 1 }, [way]: {} },
  ],
  ["together with extensions that have functions", [{ id: "com.example/x" }], { "com.example/x": {}, [way]: {} }],
])("declares the extension of its transport: %s", async (_, extensions, expected) => {
  expect(await declared(extensions)).toEqual(expected);
});
