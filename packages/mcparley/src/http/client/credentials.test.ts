import { expect, test } from "vitest";
import { openClient } from "../../client/open-client.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { discoverResult } from "../../testing/peer-transports.ts";
import type { HttpAuth } from "./settings.ts";
import { httpTransports } from "./transport.ts";

interface Body {
  id: number;
  method: string;
}

/** A server whose resources contain the credentials of the request, and an authorization with a variable user. */
function world(hints: JsonObject, { proofs = false } = {}) {
  const read: (string | null)[] = [];
  let user = "ann";
  let count = 0;
  let refuseOnce = false;
  let broken: Error | undefined;
  const auth: HttpAuth = {
    headers: async () => {
      if (broken) throw broken;
      return { authorization: `Bearer ${user}`, ...(proofs && { dpop: `proof ${++count}` }) };
    },
    challenged: async () => {
      user = "bob";
      return true;
    },
  };
  const send: typeof fetch = async (_, init) => {
    const { id, method } = JSON.parse(init?.body as string) as Body;
    const authorization = new Headers(init?.headers).get("authorization");
    if (method === "resources/read" && refuseOnce) {
      refuseOnce = false;
      return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
    }
    if (method === "resources/read") read.push(authorization);
    const contents = [{ uri: "a:1", text: authorization }];
    const result = method === "server/discover" ? discoverResult() : { resultType: "complete", contents, ...hints };
    return Response.json({ jsonrpc: "2.0", id, result });
  };
  const transports = httpTransports({ url: "https://example.com/mcp", fetch: send, auth });
  return {
    read,
    connect: () => openClient(transports),
    signIn: (next: string) => void (user = next),
    refuseNext: () => void (refuseOnce = true),
    breakStorage: () => void (broken = new Error("The storage is locked.")),
  };
}

const fresh = { ttlMs: 60_000, cacheScope: "private" };

test("a private result is cached for the credentials of its request", async () => {
  const { read, connect, signIn } = world(fresh);
  const client = await connect();
  for (const user of ["ann", "ann", "bob", "bob", "ann"]) {
    signIn(user);
    expect((await client.readResource("a:1")).contents[0]).toMatchObject({ text: `Bearer ${user}` });
  }
  expect(read).toEqual(["Bearer ann", "Bearer bob", "Bearer ann"]);
  await client.close();
});

test("a public result is cached for all credentials", async () => {
  const { read, connect, signIn } = world({ ...fresh, cacheScope: "public" });
  const client = await connect();
  for (const user of ["ann", "bob"]) {
    signIn(user);
    await client.readResource("a:1");
  }
  expect(read).toEqual(["Bearer ann"]);
  await client.close();
});

test("a proof that differs for each request is not a change of credentials", async () => {
  const { read, connect } = world(fresh, { proofs: true });
  const client = await connect();
  for (let times = 0; times < 3; times++) await client.readResource("a:1");
  expect(read.length).toBe(1);
  await client.close();
});

test("the result of a request that led to a sign-in is not cached, and the next one is", async () => {
  const { read, connect, refuseNext } = world(fresh);
  const client = await connect();
  refuseNext();
  for (let times = 0; times < 3; times++) {
    expect((await client.readResource("a:1")).contents[0]).toMatchObject({ text: "Bearer bob" });
  }
  expect(read).toEqual(["Bearer bob", "Bearer bob"]);
  await client.close();
});

test("a private result is not served if the credentials cannot be read", async () => {
  const { connect, breakStorage } = world(fresh);
  const client = await connect();
  await client.readResource("a:1");
  breakStorage();
  await expect(client.readResource("a:1")).rejects.toThrow("The storage is locked.");
  await client.close();
});
