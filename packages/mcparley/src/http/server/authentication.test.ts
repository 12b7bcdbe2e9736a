import { expect, test } from "vitest";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { type RawHttp, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpOptions, Authenticate, HttpServerAuth } from "./options.ts";
import { HttpRefusal } from "./refusal.ts";
import { toFetch } from "../fetch/to-fetch.ts";

const whoami = tool({ call: (_, { principal }) => principal?.subject ?? "nobody" });

const guarded = tool({ scopes: ["a", "b"], call: () => "" });

function serve(auth: Authenticate | HttpServerAuth, options: HttpOptions = {}): { client: RawHttp; errors: unknown[] } {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const server = createServer({ name: "test", version: "1.0.0", tools: { whoami, guarded }, onError });
  return { client: rawHttp("http://localhost/mcp", toFetch(server, { auth, ...options }).fetch), errors };
}

const challenge = 'Bearer resource_metadata="https://example.com/prm"';
const unauthorized = new HttpRefusal(401, "A token is needed.", { headers: { "www-authenticate": challenge } });
const call = { name: "whoami" };

test("passes the principal to the handler, from a synchronous or asynchronous function", async () => {
  const principal = { issuer: "https://issuer.example", subject: "alice", scopes: [] };
  for (const authenticate of [(): typeof principal => principal, async (): Promise<typeof principal> => principal]) {
    const answer = await serve(authenticate).client.modern("tools/call", call);
    expect((await answer.json()).result.content).toEqual([{ type: "text", text: "alice" }]);
  }
});

test("treats undefined as an anonymous caller", async () => {
  const answer = await serve(() => undefined).client.modern("tools/call", call);
  expect((await answer.json()).result.content).toEqual([{ type: "text", text: "nobody" }]);
});

test.each<[string, Authenticate]>([
  ["returned", () => unauthorized],
  [
    "thrown",
    () => {
      throw unauthorized;
    },
  ],
  ["rejected", () => Promise.reject(unauthorized)],
])("answers with a refusal that is %s, and with its headers", async (_, authenticate) => {
  const { client, errors } = serve(authenticate);
  for (const method of ["POST", "GET", "DELETE"]) {
    const answer = await client.send({ method });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe(challenge);
    expect((await answer.json()).error.message).toBe("A token is needed.");
  }
  expect(errors).toEqual([]);
});

test("reports any other error in full, and hides it from the client", async () => {
  const { client, errors } = serve(() => {
    throw new Error("postgres://secret");
  });
  const answer = await client.modern("tools/call", call);
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain("secret");
  expect(errors).toEqual([new Error("postgres://secret")]);
});

test("authenticates after the checks of Host and Origin and before it reads the body", async () => {
  const seen: string[] = [];
  const { client } = serve(
    (head) => {
      seen.push(`${head.method} ${head.path} ${head.header("authorization")} ${head.secure}`);
      return unauthorized;
    },
    { maxBody: 1 },
  );
  await (await client.post({ too: "large" }, { authorization: "Bearer x" })).text();
  await (await client.post({}, { host: "evil.example" })).text();
  expect(seen).toEqual(["POST /mcp Bearer x false"]);
});

test("answers a preflight without authentication", async () => {
  const { client } = serve(() => unauthorized, { cors: true });
  const headers = { origin: "http://localhost:1", "access-control-request-method": "POST" };
  expect((await client.send({ method: "OPTIONS", headers })).status).toBe(204);
});

test("reports the cause of a refusal and does not send it", async () => {
  const cause = new Error("postgres://secret");
  const { client, errors } = serve(() => new HttpRefusal(503, "Try again.", { cause }));
  const answer = await client.modern("tools/call", call);
  expect(answer.status).toBe(503);
  expect(await answer.text()).not.toContain("secret");
  expect(errors).toEqual([cause]);
});

test("adds the headers of the authentication to every response", async () => {
  const { client } = serve((request) => {
    request.decorate({ "dpop-nonce": "n" });
    return undefined;
  });
  expect((await client.modern("tools/call", call)).headers.get("dpop-nonce")).toBe("n");
  expect((await client.send({ method: "PUT" })).headers.get("dpop-nonce")).toBe("n");
});

test("serves a public document to any origin without authentication", async () => {
  const { client } = serve({
    authenticate: () => unauthorized,
    document: ({ method, path }) => {
      if (path !== "/public") return undefined;
      return { status: 200, headers: { "content-type": "text/plain", allow: method }, body: "hello" };
    },
  });
  const answer = await client.send({ method: "GET", path: "/public", headers: { origin: "https://app.example" } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("allow")).toBe("GET");
  expect(await answer.text()).toBe("hello");
  expect((await client.send({ method: "GET" })).status).toBe(401);
});

test("passes all required scopes and the request to challenge", async () => {
  const { client } = serve({
    authenticate: () => ({ issuer: "i", subject: "s", scopes: ["a"] }),
    challenge: (scopes, request) => `Own scope="${scopes.join(" ")}", path="${request.path}"`,
  });
  const answer = await client.modern("tools/call", { name: "guarded" });
  expect(answer.status).toBe(403);
  expect(answer.headers.get("www-authenticate")).toBe('Own scope="a b", path="/mcp"');
});
