import { describe, expect, test } from "vitest";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { apiKeys } from "../server/api-keys.ts";
import { toFetch } from "../../http/fetch/to-fetch.ts";
import { createServer } from "../../server/create-server.ts";
import { oauth } from "./oauth.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { OAuth } from "./options.ts";
import type { SignIn } from "./sign-in.ts";

const keys = apiKeys([{ key: "first-key-0123456789", subject: "alice" }]);
const keyServer = toFetch(createServer({ name: "test", version: "1.0.0" }), { auth: keys, path: "/mcp" }).fetch;
const openServer = toFetch(createServer({ name: "test", version: "1.0.0" }), { path: "/mcp" }).fetch;

/** The authorization at an origin. Requests to other paths than that of the server are answered with `other`. */
function world(server: (request: Request) => Promise<Response>, other: () => Response) {
  const visits: URL[] = [];
  const send = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    return request.url === serverUrl ? server(request) : Promise.resolve(other());
  };
  const redirectUri = "http://127.0.0.1:7777/callback";
  const visit = (url: URL): Promise<URL> => Promise.resolve(url).finally(() => visits.push(url));
  const signIn = { prepare: () => Promise.resolve({ redirectUri, visit, close: () => Promise.resolve() }) };
  return { visits, fetch: send, signIn };
}

async function failureOf(auth: OAuth, send: typeof fetch): Promise<unknown> {
  const settings = readHttpTarget({ url: serverUrl, auth, fetch: send });
  const { signal } = new AbortController();
  const headers = { "content-type": "application/json" };
  return sendHttp(settings, { method: "POST", headers, body: "{}", signal }).catch((error: unknown) => error);
}

const responses: readonly (readonly [kind: string, () => Response])[] = [
  ["404 with text", () => new Response("Not found", { status: 404 })],
  ["404 with JSON", () => Response.json({ error: "Not Found" }, { status: 404 })],
  ["405", () => new Response(null, { status: 405 })],
  ["a page", () => new Response("<html></html>", { headers: { "content-type": "text/html" } })],
  [
    "401 for all paths",
    () =>
      Response.json(
        { jsonrpc: "2.0", id: null, error: { code: -32600, message: "A token is required." } },
        { status: 401, headers: { "www-authenticate": "Bearer" } },
      ),
  ],
];

const explained =
  'https://mcp.example/mcp requires a token or a key, but offers no sign-in. It names no authorization server, and there is none at "https://mcp.example". Send the token or key in the option `headers`.';

describe("a server with API keys, without an authorization server", () => {
  test("is marked in the purpose of the sign-in", async () => {
    const { fetch: send } = world(keyServer, () => new Response("Not found", { status: 404 }));
    const purposes: unknown[] = [];
    const prepare: SignIn["prepare"] = (_, purpose) => {
      purposes.push(purpose);
      return Promise.reject(new LocalError("sign_in_required", "A user must sign in."));
    };
    await failureOf(oauth({ fetch: send, signIn: { prepare } }), send);
    expect(purposes).toEqual([
      { server: serverUrl, issuer: new URL(serverUrl).origin, isIssuerAssumed: true, scopes: undefined },
    ]);
  });

  test.each(responses)("is reported as such by a request if its other paths answer with %s", async (_, other) => {
    const { fetch: send, signIn, visits } = world(keyServer, other);
    const failure = await failureOf(oauth({ fetch: send, signIn }), send);
    expect(failure).toMatchObject({ code: "authorization_failed", message: explained, data: { hasSignIn: false } });
    // The cure is no other client.
    expect(failure).not.toHaveProperty("data.request");
    expect(visits).toEqual([]);
  });

  test.each(responses)("is reported as such by signIn if its other paths answer with %s", async (_, other) => {
    const { fetch: send, signIn } = world(keyServer, other);
    const signedIn = oauth({ fetch: send, signIn }).signIn(serverUrl);
    await expect(signedIn).rejects.toMatchObject({ code: "authorization_failed", message: explained });
  });
});

test("signIn at a server without authorization reports that it may not require one", async () => {
  const { fetch: send, signIn } = world(openServer, () => new Response("Not found", { status: 404 }));
  const message =
    'https://mcp.example/mcp offers no sign-in. It names no authorization server, and there is none at "https://mcp.example". The server may not require one.';
  await expect(oauth({ fetch: send, signIn }).signIn(serverUrl)).rejects.toMatchObject({ message });
});

describe("an authorization server without metadata, at the default paths of 2025-03-26", () => {
  function defaultPaths(): ScriptedIssuer {
    const issuer = scriptedIssuer();
    issuer.resourceMetadata = undefined;
    for (const name of ["authorization", "token", "registration"]) {
      const path = { authorization: "authorize", token: "token", registration: "register" }[name];
      issuer.metadata[`${name}_endpoint`] = `https://mcp.example/${path}`;
    }
    return issuer;
  }

  test.each([
    ["a refused grant", () => Response.json({ error: "invalid_grant" }, { status: 400 }), "invalid_grant"],
    ["a refused client", () => Response.json({ error: "invalid_client" }, { status: 401 }), "invalid_client"],
    ["an internal error", () => new Response(null, { status: 500 }), "status 500"],
  ])("keeps the error for %s", async (_, answer, shown) => {
    const issuer = defaultPaths();
    issuer.answerToken = answer;
    const auth = oauth({ fetch: issuer.fetch, signIn: issuer.person() });
    expect(await failureOf(auth, issuer.fetch)).toMatchObject({
      code: "authorization_failed",
      message: expect.stringContaining(shown),
    });
    expect(issuer.visits).not.toEqual([]);
  });
});
