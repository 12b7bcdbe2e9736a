import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type RawHttp, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpOptions, HttpServerAuth } from "../../http/server/options.ts";
import { HttpRefusal } from "../../http/server/refusal.ts";
import { toFetch } from "../../http/fetch/to-fetch.ts";
import { toNodeHandler } from "../../node/node-handler.ts";
import { LocalError } from "../../rpc/errors.ts";
import { createServer } from "../../server/create-server.ts";
import { tool } from "../../server/definition.ts";
import { readChallenge } from "../client/discovery/discovery.ts";
import { apiKeys } from "./api-keys.ts";
import { bearer } from "./bearer.ts";
import { protectedResource } from "./protected-resource.ts";
import { InvalidToken } from "./verified-token.ts";

const resource = "https://mcp.example/mcp";
const issuer = "https://as.example";
const key = "a-key-of-the-server-01";
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The tokens that a verifier received. */
let verified: string[] = [];
const oauth = (): HttpServerAuth => {
  verified = [];
  return protectedResource({
    resource,
    issuers: [issuer],
    scopes: ["notes:read"],
    verifier: (token) => {
      verified.push(token);
      if (token === "down") throw new LocalError("unreachable", "The issuer is down.");
      if (token !== "good") throw new InvalidToken("The token has expired.");
      return { issuer, subject: "alice", audience: [resource], scopes: ["notes:read"] };
    },
  });
};
const keys = (header?: string): HttpServerAuth =>
  apiKeys([{ key, subject: "ci", scopes: ["notes:read"] }], header === undefined ? {} : { header });

type Serve = (auth: NonNullable<HttpOptions["auth"]>) => Promise<{ client: RawHttp; errors: unknown[] }>;

function makeServer(errors: unknown[]) {
  const whoami = tool({ call: (_, { principal }) => JSON.stringify(principal) });
  const write = tool({ scopes: ["notes:write"], call: () => "written" });
  const notes = createServer({ name: "notes", version: "1.0.0", tools: { whoami, write } });
  const onError = (error: unknown): void => void errors.push(error);
  // The tools of a mounted server have the authentication of the endpoint.
  return createServer({ name: "test", version: "1.0.0", tools: { whoami, write }, onError }).mount("sub", notes);
}

const serveFetch: Serve = async (auth) => {
  const errors: unknown[] = [];
  const { fetch } = toFetch(makeServer(errors), { auth, path: "/mcp", allowedHosts: ["mcp.example"] });
  return { client: rawHttp(resource, fetch), errors };
};

const serveNode: Serve = async (auth) => {
  const errors: unknown[] = [];
  const handler = toNodeHandler(makeServer(errors), { auth, path: "/mcp" });
  // As middleware it must also serve the public documents.
  const http = createHttpServer((request, response) =>
    handler(request, response, () => void response.writeHead(418).end()),
  );
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  closers.push(async () => {
    await handler.close();
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return { client: rawHttp(`http://127.0.0.1:${port}/mcp`, globalThis.fetch), errors };
};

const metadata = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"';
const algorithms = 'algs="ES256 ES384 EdDSA Ed25519 PS256 RS256"';
const oauthChallenge = `Bearer ${metadata}, scope="notes:read", DPoP ${metadata}, scope="notes:read", ${algorithms}`;
const expired = 'Bearer error="invalid_token", error_description="The token has expired.", ';

describe.each([
  ["a fetch handler", serveFetch],
  ["a handler of node:http", serveNode],
])("with a list of OAuth and API keys in %s", (_, serve) => {
  const call = async (client: RawHttp, headers: Record<string, string>, name = "whoami") => {
    const answer = await client.modern("tools/call", { name }, { headers });
    const { result, error } = await answer.json();
    const [content] = (result as { content: { text: string }[] } | undefined)?.content ?? [];
    const challenge = answer.headers.get("www-authenticate");
    return { status: answer.status, challenge, text: content?.text ?? error?.message ?? "" };
  };
  const bearerOf = (token: string) => ({ authorization: `Bearer ${token}` });

  describe.each<[string, (header?: string) => HttpServerAuth[], boolean]>([
    ["OAuth first", (header) => [oauth(), keys(header)], true],
    ["API keys first", (header) => [keys(header), oauth()], false],
  ])("%s", (_order, list, isOAuthFirst) => {
    const inOrder = (first: string, second: string): string =>
      (isOAuthFirst ? [first, second] : [second, first]).join(", ");

    test.each(["whoami", "sub.whoami"])(
      "the credential decides who checks it, and the principal of %s names the issuer",
      async (name) => {
        const { client, errors } = await serve(list("x-api-key"));
        const alice = { issuer, subject: "alice", scopes: ["notes:read"] };
        const ci = { issuer: "api-keys", subject: "ci", scopes: ["notes:read"] };
        expect(JSON.parse((await call(client, bearerOf("good"), name)).text)).toEqual(alice);
        expect(JSON.parse((await call(client, bearerOf(key), name)).text)).toEqual(ci);
        expect(JSON.parse((await call(client, { "x-api-key": key }, name)).text)).toEqual(ci);
        // No verifier receives the API key.
        expect(verified).toEqual(["good"]);
        expect(errors).toEqual([]);
      },
    );

    test("without a credential the answer has the challenges of both, in order", async () => {
      const { client } = await serve(list());
      for (const headers of [{}, { authorization: "Basic YTpi" }] as Record<string, string>[]) {
        const answer = await call(client, headers);
        expect(answer.status).toBe(401);
        expect(answer.challenge).toBe(inOrder(oauthChallenge, "Bearer"));
        const challenge = await readChallenge(new Headers({ "www-authenticate": answer.challenge ?? "" }));
        expect(challenge).toMatchObject({ resourceMetadata: expect.stringContaining("oauth-protected-resource") });
        expect(answer.text).toContain("Authorization is required: send an access token");
        expect(answer.text).toContain('after "Bearer" and a space');
      }
      expect(verified).toEqual([]);
    });

    test("a refused token is never checked as another credential, and never anonymous", async () => {
      const { client } = await serve(list("x-api-key"));
      for (const headers of [bearerOf("bad"), { ...bearerOf("bad"), "x-api-key": key }]) {
        const answer = await call(client, headers);
        expect(answer).toMatchObject({ status: 401, text: "The token has expired." });
        expect(answer.challenge).toBe(inOrder(oauthChallenge.replace("Bearer ", expired), "Bearer"));
      }
      // A proof is missing, and an API key cannot have one.
      const bound = { authorization: "DPoP good", "x-api-key": key };
      expect((await call(client, bound)).status).toBe(401);
    });

    test("a refused API key is answered with its error and the challenges of both", async () => {
      const { client } = await serve(list("x-api-key"));
      const answer = await call(client, { "x-api-key": "an-unknown-key-0123456" });
      expect(answer).toMatchObject({ status: 401, text: "The token is not valid." });
      expect(answer.challenge).toBe(inOrder(oauthChallenge, 'Bearer error="invalid_token"'));
      expect(verified).toEqual([]);
    });

    test("a malformed credential is answered with 400, and an unavailable issuer with 503", async () => {
      const { client, errors } = await serve(list("x-api-key"));
      const headers = { authorization: "Bearer a b", "x-api-key": key };
      expect(await call(client, headers)).toMatchObject({ status: 400, text: expect.stringContaining("one token") });
      expect((await client.send({ path: `/mcp?access_token=${key}` })).status).toBe(400);
      expect(await call(client, bearerOf("down"))).toMatchObject({ status: 503, challenge: null });
      expect(errors).toMatchObject([{ code: "unreachable" }]);
    });

    test.each(["write", "sub.write"])(
      "a missing scope of %s is answered with the challenge of the caller's credential",
      async (name) => {
        const { client } = await serve(list());
        const scoped = 'error="insufficient_scope"';
        const needed = 'scope="notes:write"';
        expect(await call(client, bearerOf(key), name)).toMatchObject({
          status: 403,
          challenge: `Bearer ${scoped}, ${needed}`,
        });
        const { status, challenge } = await call(client, bearerOf("good"), name);
        expect(status).toBe(403);
        expect(challenge).toMatch(`Bearer ${scoped}, ${metadata}, ${needed}, DPoP ${metadata}`);
      },
    );

    test("the metadata of the resource is served", async () => {
      const { client } = await serve(list());
      const answer = await client.send({ method: "GET", path: "/.well-known/oauth-protected-resource/mcp" });
      expect(answer.status).toBe(200);
      expect(JSON.parse(await answer.text())).toMatchObject({ resource, authorization_servers: [issuer] });
    });
  });

  test("of the entries that read the Authorization header the first one decides, and headers distinguish others", async () => {
    const read: string[] = [];
    const own = (name: string, header: string) =>
      bearer((token) => (read.push(`${name} ${token}`), token === "mine" ? { subject: name } : undefined), { header });
    const { client } = await serve([own("first", "x-first"), oauth(), own("second", "x-second")]);
    expect((await call(client, bearerOf("mine"))).text).toContain('"first"');
    expect((await call(client, { "x-second": "mine" })).text).toContain('"second"');
    expect((await call(client, { "x-first": "other", "x-second": "mine" })).status).toBe(401);
    expect((await call(client, bearerOf("good"))).status).toBe(401);
    expect(read).toEqual(["first mine", "second mine", "first other", "first good"]);
    expect(verified).toEqual([]);
  });

  test("several lists of keys know only their own", async () => {
    const other = "another-key-0123456789";
    const { client } = await serve([apiKeys([{ key: other, subject: "cd" }], { issuer: "deploy" }), keys()]);
    expect((await call(client, bearerOf(other))).text).toContain('"deploy"');
    expect((await call(client, bearerOf(key))).text).toContain('"ci"');
    const unknown = await call(client, bearerOf("an-unknown-key-0123456"));
    expect(unknown).toMatchObject({ status: 401, text: "The token is not valid." });
    expect(unknown.challenge).toBe('Bearer error="invalid_token", Bearer error="invalid_token"');
    expect(await call(client, { authorization: "Bearer a b" })).toMatchObject({
      status: 400,
      challenge: 'Bearer error="invalid_request", Bearer error="invalid_request"',
    });
  });

  test("an entry of a list that accepts nobody is no anonymous caller", async () => {
    const cookie = (result: unknown): HttpServerAuth => ({
      match: (request) => (request.header("cookie") === undefined ? undefined : "certain"),
      authenticate: async () => result as undefined,
    });
    const { client } = await serve([keys(), cookie(undefined)]);
    expect(await call(client, { cookie: "a" })).toMatchObject({ status: 401, challenge: "Bearer" });
    expect((await call(client, {})).status).toBe(401);
    const forbidden = new HttpRefusal(403, "No.");
    const second = await serve([keys(), cookie(forbidden)]);
    expect(await call(second.client, { cookie: "a" })).toMatchObject({ status: 403, text: "No.", challenge: null });
    const third = await serve([cookie({ issuer: "web", subject: "bob", scopes: [] }), keys()]);
    expect((await call(third.client, { cookie: "a" })).text).toContain('"bob"');
  });

  test("a list without entries, and an entry that cannot be distinguished, are refused when the handler is made", async () => {
    for (const list of [
      [],
      [keys(), { authenticate: () => undefined }],
      [keys(), () => undefined],
      [keys(), undefined],
    ]) {
      await expect(serve(list as HttpServerAuth[])).rejects.toMatchObject({
        code: "invalid_definition",
        message: expect.stringContaining("`match`"),
      });
    }
  });

  test("an error of an entry is reported, and answered with 500", async () => {
    const broken: HttpServerAuth = { match: () => "certain", authenticate: () => Promise.reject(new Error("secret")) };
    const { client, errors } = await serve([keys(), broken]);
    expect(await call(client, {})).toMatchObject({ status: 500, text: "Internal error" });
    expect(errors).toEqual([new Error("secret")]);
  });
});
