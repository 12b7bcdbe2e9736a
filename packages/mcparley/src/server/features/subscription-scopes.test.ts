import { describe, expect, test } from "vitest";
import { fakeClock } from "../../testing/fake-clock.ts";
import { toFetch } from "../../http/fetch/to-fetch.ts";
import { type RawAnswer, type RawMessage, metaOf, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { createServer } from "../create-server.ts";
import { resource } from "../definition.ts";
import type { Principal } from "../core/context.ts";

const open = resource("note://open", { read: () => "open" });
const secret = resource("note://secret", { scopes: ["admin"], read: () => "secret" });
const secrets = resource("vault://{name}", { scopes: ["admin"], read: () => "secret" });

/** Serves the resources over HTTP to one user, whose scopes and token a test can change. */
function serve(...scopes: string[]) {
  const clock = fakeClock();
  const server = createServer({ name: "x", version: "1", clock, resources: { open, secret, secrets } });
  let principal: Principal = { issuer: "https://issuer.example", subject: "ann", scopes };
  const { fetch } = toFetch(server, { auth: () => principal });
  const http = rawHttp("http://localhost/mcp", fetch);
  const grant = (more: Partial<Principal>): void => void (principal = { ...principal, ...more });
  return { clock, server, http, grant };
}

type Served = ReturnType<typeof serve>;

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

/** Opens a session; the returned function sends it a request or notification. */
async function openSession({ http }: Served) {
  const opened = await http.post(initialize, { accept: "application/json, text/event-stream" });
  const headers = {
    accept: "application/json, text/event-stream",
    "mcp-session-id": opened.headers.get("mcp-session-id")!,
    "mcp-protocol-version": "2025-11-25",
  };
  const send = (method: string, params: object = {}, id?: number): Promise<RawAnswer> =>
    http.post({ jsonrpc: "2.0", ...(id !== undefined && { id }), method, params }, headers);
  await send("notifications/initialized");
  const stream = (): Promise<RawAnswer> =>
    http.send({ method: "GET", headers: { ...headers, accept: "text/event-stream" } });
  return { send, stream };
}

/** Returns the URI of the next update on a stream. */
async function nextUpdate(stream: RawAnswer): Promise<unknown> {
  for (;;) {
    const event = (await stream.next()) as RawMessage | string;
    if (typeof event !== "string" && event.method === "notifications/resources/updated") return event.params?.uri;
  }
}

function listen({ http }: Served, resourceSubscriptions: string[]): Promise<RawAnswer> {
  return http.modern("subscriptions/listen", { notifications: { resourceSubscriptions }, _meta: metaOf() });
}

describe("in a session", () => {
  test.each(["note://secret", "vault://a"])(
    "a subscription to %s without its scope is refused like a read",
    async (uri) => {
      const served = serve();
      const { send } = await openSession(served);
      const answers = await Promise.all([send("resources/subscribe", { uri }, 1), send("resources/read", { uri }, 2)]);
      for (const answer of answers) expect(answer.status).toBe(403);
      const [subscribed, read] = await Promise.all(answers.map((answer) => answer.json()));
      expect(subscribed?.error).toEqual(read?.error);
    },
  );

  test("a resource can be subscribed to if the caller has its scopes", async () => {
    const served = serve("admin");
    const { send, stream } = await openSession(served);
    expect((await (await send("resources/subscribe", { uri: "note://secret" }, 1)).json()).result).toEqual({});
    const events = await stream();
    served.server.resources.updated("note://secret");
    expect(await nextUpdate(events)).toBe("note://secret");
    await events.leave();
  });

  test.each<[string, (served: Served, session: Awaited<ReturnType<typeof openSession>>) => unknown]>([
    [
      "a later token of the caller lacks the scope",
      async (served, { send }) => {
        served.grant({ scopes: [] });
        await send("ping", {}, 9);
      },
    ],
    [
      "the resource needs another scope now",
      ({ server }) => server.resources.set("open", { ...open, scopes: ["root"] }),
    ],
    [
      "the token has expired",
      async ({ clock }) => {
        await clock.advance(60_001);
      },
    ],
  ])("no update is delivered if %s", async (_, change) => {
    const served = serve("admin");
    served.grant({ claims: { exp: served.clock.now() / 1000 + 60 } });
    const session = await openSession(served);
    const plain = "note://plain";
    served.server.resources.set("open", { ...open, scopes: ["admin"] });
    for (const [id, uri] of ["note://open", plain].entries())
      await session.send("resources/subscribe", { uri }, id + 1);
    const events = await session.stream();
    await change(served, session);
    served.server.resources.updated("note://open");
    served.server.resources.updated(plain);
    expect(await nextUpdate(events)).toBe(plain);
    await events.leave();
  });

  test("the token of the request that opens the stream counts", async () => {
    const served = serve("admin");
    const { send, stream } = await openSession(served);
    for (const [id, uri] of ["note://secret", "note://open"].entries())
      await send("resources/subscribe", { uri }, id + 1);
    served.grant({ scopes: [] });
    const events = await stream();
    served.server.resources.updated("note://secret");
    served.server.resources.updated("note://open");
    expect(await nextUpdate(events)).toBe("note://open");
    await events.leave();
  });
});

test("an update that waited for a stream is not sent to a token without the scope", async () => {
  const served = serve("admin");
  const { send, stream } = await openSession(served);
  for (const [id, uri] of ["note://secret", "note://open"].entries())
    await send("resources/subscribe", { uri }, id + 1);
  for (const uri of ["note://secret", "note://open"]) served.server.resources.updated(uri);
  served.grant({ scopes: [] });
  const events = await stream();
  expect(await nextUpdate(events)).toBe("note://open");
  await events.leave();
});

describe("on a subscriptions/listen stream", () => {
  test("a resource without its scope is omitted from the acknowledgment, and its updates are not sent", async () => {
    const served = serve();
    const events = await listen(served, ["note://secret", "vault://a", "note://open"]);
    const acknowledged = (await events.next()) as RawMessage;
    expect(acknowledged.params?.notifications).toEqual({ resourceSubscriptions: ["note://open"] });
    for (const uri of ["note://secret", "vault://a", "note://open"]) served.server.resources.updated(uri);
    expect(await nextUpdate(events)).toBe("note://open");
    await events.leave();
  });

  test("updates are sent to a caller with the scope, until its token expires", async () => {
    const served = serve("admin");
    served.grant({ claims: { exp: served.clock.now() / 1000 + 60 } });
    const events = await listen(served, ["note://secret", "note://open"]);
    served.server.resources.updated("note://secret");
    expect(await nextUpdate(events)).toBe("note://secret");
    await served.clock.advance(60_001);
    served.server.resources.updated("note://secret");
    served.server.resources.updated("note://open");
    expect(await nextUpdate(events)).toBe("note://open");
    await events.leave();
  });

  test("no update is sent once the resource needs another scope", async () => {
    const served = serve("admin");
    const events = await listen(served, ["note://secret", "note://open"]);
    served.server.resources.set("secret", { ...secret, scopes: ["root"] });
    served.server.resources.updated("note://secret");
    served.server.resources.updated("note://open");
    expect(await nextUpdate(events)).toBe("note://open");
    await events.leave();
  });
});
