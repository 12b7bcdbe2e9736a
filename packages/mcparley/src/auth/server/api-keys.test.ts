import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { type RawHttp, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpServerAuth } from "../../http/server/options.ts";
import { redact } from "../../rpc/redact.ts";
import { toFetch } from "../../http/fetch/to-fetch.ts";
import { createServer } from "../../server/create-server.ts";
import { tool } from "../../server/definition.ts";
import { type ApiKey, apiKeys } from "./api-keys.ts";
import { bearer } from "./bearer.ts";
import { InvalidToken } from "./verified-token.ts";

const whoami = tool({ call: (_, { principal }) => JSON.stringify(principal) });
const remove = tool({ scopes: ["notes:write"], call: () => "Removed." });

function serve(auth: HttpServerAuth): { client: RawHttp; errors: unknown[] } {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const server = createServer({ name: "test", version: "1.0.0", tools: { whoami, remove }, onError });
  return { client: rawHttp("http://localhost/mcp", toFetch(server, { auth }).fetch), errors };
}

const call = (client: RawHttp, headers: Record<string, string>, name = "whoami"): ReturnType<RawHttp["modern"]> =>
  client.modern("tools/call", { name }, { headers });
const principalOf = async (client: RawHttp, headers: Record<string, string>): Promise<unknown> => {
  const { result } = await (await call(client, headers)).json();
  return JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? "null");
};
const authorized = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const [first, second, third] = ["first-key-0123456789", "second-key-0123456789", "third-key-0123456789"];
const sha256 = createHash("sha256").update(second).digest("hex");
const keys: ApiKey[] = [
  { key: first, subject: "alice", scopes: ["notes:write"], claims: { team: "docs" } },
  { sha256: sha256.toUpperCase(), subject: "bob" },
];

describe("API keys", () => {
  test("the principal is the owner of a key, which is configured as text or as a hash", async () => {
    const { client } = serve(apiKeys(keys));
    const alice = { issuer: "api-keys", subject: "alice", scopes: ["notes:write"], claims: { team: "docs" } };
    expect(await principalOf(client, authorized(first))).toEqual(alice);
    expect(await principalOf(client, authorized(second))).toEqual({ issuer: "api-keys", subject: "bob", scopes: [] });
  });

  test("the scopes of a key allow calls that require them, and a missing scope is answered with 403", async () => {
    const { client } = serve(apiKeys(keys));
    expect((await call(client, authorized(first), "remove")).status).toBe(200);
    const refused = await call(client, authorized(second), "remove");
    expect(refused.status).toBe(403);
    expect(refused.headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope", scope="notes:write"');
  });

  test("the message for a request without a key says where to send it, in words that no filter of secrets removes", async () => {
    for (const [options, place] of [
      [{}, 'Send it in the Authorization header, after "Bearer" and a space.'],
      [{ header: "x-api-key" }, 'after "Bearer" and a space, or alone in the x-api-key header.'],
    ] as const) {
      const answer = await call(serve(apiKeys(keys, options)).client, {});
      const message = (await answer.json()).error?.message ?? "";
      expect(message).toContain(place);
      expect(redact(JSON.stringify({ message }))).toBe(JSON.stringify({ message }));
      for (const filter of [/bearer\s+\S/i, /(?:authorization|token|key)["']?\s*[:=]/i])
        expect(message).not.toMatch(filter);
    }
  });

  test("a request without a key is answered with 401 and a challenge without metadata", async () => {
    const { client, errors } = serve(apiKeys(keys));
    for (const method of ["POST", "GET", "DELETE"]) {
      const answer = await client.send({ method });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    expect(errors).toEqual([]);
  });

  test.each([
    ["an unknown key", third],
    ["the beginning of a key", first.slice(0, -1)],
    ["a longer key", `${first}0`],
    ["the hash of a key", sha256],
    ["the word undefined", "undefined"],
  ])("%s is answered with 401", async (_, token) => {
    const { client, errors } = serve(apiKeys(keys));
    const answer = await call(client, authorized(token));
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
    expect(await answer.text()).not.toContain(token);
    expect(errors).toEqual([]);
  });

  test("a key in the URL is answered with 400", async () => {
    const { client } = serve(apiKeys(keys));
    expect((await client.send({ path: `/mcp?access_token=${first}` })).status).toBe(400);
  });

  test("a key is also read from the option `header`", async () => {
    const { client } = serve(apiKeys(keys, { header: "X-API-Key", issuer: "https://notes.example" }));
    const owner = { issuer: "https://notes.example", subject: "bob" };
    expect(await principalOf(client, { "x-api-key": second })).toMatchObject(owner);
    expect(await principalOf(client, authorized(second))).toMatchObject(owner);
    expect((await call(client, { "x-api-key": third })).status).toBe(401);
    expect((await call(client, { "x-api-key": "k".repeat(20_000) })).status).toBe(400);
    expect((await call(serve(apiKeys(keys)).client, { "x-api-key": second })).status).toBe(401);
  });

  test.each<[string, ApiKey[], string]>([
    ["no keys", [], "at least one key"],
    ["a key of an unset environment variable", [{ key: undefined, subject: "ci" }], "its environment variable is set"],
    ["an empty key", [{ key: "", subject: "ci" }], 'The API key of "ci" is empty.'],
    ["an empty hash", [{ sha256: "", subject: "ci" }], "its environment variable is set"],
    ["both forms", [{ key: first, sha256, subject: "ci" }], "both key and sha256"],
    ["a short key", [{ key: "topsecret", subject: "ci" }], "at least 16 characters"],
    ["a key that no header can contain", [{ key: "schlüssel-0123456789", subject: "ci" }], "letters, digits"],
    ["a hash of another length", [{ sha256: "abc", subject: "ci" }], "64 hexadecimal digits"],
    ["no subject", [{ key: first, subject: "" }], "requires a subject"],
    [
      "a repeated key",
      [
        { key: first, subject: "ci" },
        { key: first, subject: "cd" },
      ],
      "twice",
    ],
  ])("%s is rejected, and the error contains no key", (_, given, message) => {
    const error = (() => {
      try {
        return apiKeys(given);
      } catch (thrown) {
        return thrown as Error;
      }
    })();
    expect(error).toMatchObject({ code: "invalid_definition", message: expect.stringContaining(message) });
    for (const { key } of given) if (key) expect(inspect(error)).not.toContain(key);
  });
});

describe("bearer", () => {
  test("the function's result is the principal, and it receives the token and the head of the request", async () => {
    const { client } = serve(
      bearer((token, { path }) =>
        token === third && path === "/mcp" ? { subject: "carol", scopes: ["a"] } : undefined,
      ),
    );
    expect(await principalOf(client, authorized(third))).toEqual({ issuer: "bearer", subject: "carol", scopes: ["a"] });
    expect((await call(client, authorized(first))).status).toBe(401);
  });

  test("the message of InvalidToken is sent, and any other error is reported and hidden", async () => {
    const expired = serve(bearer(() => Promise.reject(new InvalidToken("The token has expired."))));
    const answer = await call(expired.client, authorized(first));
    expect(answer.status).toBe(401);
    expect((await answer.json()).error?.message).toBe("The token has expired.");
    const broken = serve(bearer(() => Promise.reject(new Error("postgres://secret"))));
    const failed = await call(broken.client, authorized(first));
    expect(failed.status).toBe(500);
    expect(await failed.text()).not.toContain("postgres");
    expect(broken.errors).toHaveLength(1);
  });

  test.each([{ subject: "" }, { subject: "carol", scopes: "a b" }, { name: "carol" }])(
    "a result of an invalid form, %j, is an error and not an anonymous caller",
    async (caller) => {
      const { client, errors } = serve(bearer(() => caller as never));
      expect((await call(client, authorized(first))).status).toBe(500);
      expect(String(errors[0])).toContain("A principal must be");
    },
  );
});
