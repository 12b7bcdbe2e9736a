import { describe, expect, test } from "vitest";
import { flushPromises } from "../../testing/fake-clock.ts";
import { fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import { sendHttp } from "./send.ts";
import { type HttpAuth, type HttpSettings, readHttpTarget } from "./settings.ts";

const url = "https://example.com/mcp";
const never = Promise.resolve(false);

/** An authorization whose header contains the number of the call, the method and the URL. */
function authWith(auth: Partial<HttpAuth> = {}): HttpAuth {
  let count = 0;
  return {
    headers: ({ method, url }) => Promise.resolve({ Authorization: `${++count} ${method} ${url.href}` }),
    challenged: () => never,
    ...auth,
  };
}

function settingsWith(auth: HttpAuth, fetch: typeof globalThis.fetch): HttpSettings {
  return readHttpTarget({ url, fetch, auth });
}

const post = { method: "POST", headers: {}, body: "{}", signal: new AbortController().signal } as const;

test("each request is authorized for its own method and URL, also after a redirect", async () => {
  const { fetch, next } = fetchStub();
  const sending = sendHttp(settingsWith(authWith(), fetch), post);
  (await next()).status(307, { location: "/elsewhere" });
  const redirected = await next();
  expect(redirected.headers.get("authorization")).toBe("2 POST https://example.com/elsewhere");
  redirected.status(200);
  expect((await sending).status).toBe(200);
});

describe("an authorization that reads responses", () => {
  test("receives each response, and can request one repetition", async () => {
    const { fetch, next, waiting } = fetchStub();
    const responses: unknown[] = [];
    const auth = authWith({
      responded: ({ url }, { status, headers }) => {
        responses.push([url.href, status, headers.get("dpop-nonce")]);
        return status === 401;
      },
    });
    const sending = sendHttp(settingsWith(auth, fetch), post);
    (await next()).status(401, { "dpop-nonce": "n1" });
    const again = await next();
    expect(again.headers.get("authorization")).toEqual(`2 POST ${url}`);
    expect(again.body).toEqual({});
    again.status(200, { "dpop-nonce": "n2" });
    expect((await sending).status).toBe(200);
    expect(responses).toEqual([
      [url, 401, "n1"],
      [url, 200, "n2"],
    ]);
    expect(waiting()).toBe(0);
  });

  test("repeats the request once, and a second such response is returned", async () => {
    const { fetch, next, waiting } = fetchStub();
    const sending = sendHttp(settingsWith(authWith({ responded: () => true }), fetch), post);
    (await next()).status(401);
    (await next()).status(401);
    expect((await sending).status).toBe(401);
    expect(waiting()).toBe(0);
  });

  test("can still be challenged, because a new nonce does not count as an attempt to sign in", async () => {
    const { fetch, next, waiting } = fetchStub();
    let nonce = "none";
    const challenged: number[] = [];
    const auth = authWith({
      responded: (_, { headers }) => {
        const wasOld = headers.get("dpop-nonce") !== nonce;
        nonce = headers.get("dpop-nonce") ?? nonce;
        return wasOld;
      },
      challenged: async ({ status }) => {
        challenged.push(status);
        await flushPromises();
        return true;
      },
    });
    const sending = sendHttp(settingsWith(auth, fetch), post);
    (await next()).status(401, { "dpop-nonce": "n1" });
    (await next()).status(401, { "dpop-nonce": "n1" });
    (await next()).status(200, { "dpop-nonce": "n1" });
    expect((await sending).status).toBe(200);
    expect(challenged).toEqual([401]);
    expect(waiting()).toBe(0);
  });
});
