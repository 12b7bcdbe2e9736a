import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SignInAttempt } from "../../auth/client/sign-in.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { type LoopbackSignInOptions, loopbackSignIn } from "./loopback-sign-in.ts";

const never = new AbortController().signal;
const authorizationUrl = new URL("https://issuer.example/authorize?state=s1&client_id=c");
const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"));
let attempts: SignInAttempt[];

beforeEach(() => {
  attempts = [];
});
afterEach(() => Promise.all(attempts.map((attempt) => attempt.close())));

async function prepare(options: LoopbackSignInOptions = {}, previous?: string): Promise<SignInAttempt> {
  const attempt = await loopbackSignIn({ open: () => {}, ...options }).prepare(previous);
  attempts.push(attempt);
  return attempt;
}

interface Answer {
  status: number | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Sends a request that a browser cannot send, such as one with another `Host` header. */
async function get(url: string, options: { path?: string; host?: string; method?: string } = {}): Promise<Answer> {
  const { host, ...rest } = options;
  const outgoing = request(url, { ...rest, ...(host && { headers: { host } }) });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
}

describe("the redirect", () => {
  test("resolves with its URL, and shows a page that loads nothing and is not cached", async () => {
    let opened: URL | undefined;
    const attempt = await prepare({ open: (url) => void (opened = url) });
    expect(attempt.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const visit = attempt.visit(authorizationUrl, never);
    expect(opened).toBe(authorizationUrl);
    const answer = await get(`${attempt.redirectUri}?code=a%2Fb&state=s1&iss=i`);
    expect((await visit).href).toBe(`${attempt.redirectUri}?code=a%2Fb&state=s1&iss=i`);
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining("close this window") as string });
    expect(answer.headers).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'") as string,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  });

  test("is accepted once: later requests are unexpected", async () => {
    const attempt = await prepare();
    const visit = attempt.visit(authorizationUrl, never);
    expect((await get(`${attempt.redirectUri}?code=first&state=s1`)).status).toBe(200);
    expect((await get(`${attempt.redirectUri}?code=second&state=s1`)).status).toBe(404);
    expect((await visit).searchParams.get("code")).toBe("first");
  });

  test("may report an error of the authorization server", async () => {
    const attempt = await prepare();
    const visit = attempt.visit(authorizationUrl, never);
    await get(`${attempt.redirectUri}?error=access_denied&state=s1`);
    expect((await visit).searchParams.get("error")).toBe("access_denied");
  });

  test("may arrive before the program of the browser has started", async () => {
    const attempt = await prepare({ open: () => new Promise(() => {}) });
    const visit = attempt.visit(authorizationUrl, never);
    await get(`${attempt.redirectUri}?code=c&state=s1`);
    expect((await visit).searchParams.get("code")).toBe("c");
  });

  test("may have any state if the authorization URL has no state", async () => {
    const attempt = await prepare();
    const visit = attempt.visit(new URL("https://issuer.example/authorize?request_uri=urn:x"), never);
    expect((await get(`${attempt.redirectUri}?code=c`)).status).toBe(404);
    await get(`${attempt.redirectUri}?code=c&state=pushed`);
    expect((await visit).searchParams.get("state")).toBe("pushed");
  });
});

describe("unexpected requests", () => {
  const script = "<script>alert(1)</script>";

  test.each<[what: string, query: string, options?: { host?: string; method?: string }]>([
    ["another path", `/other?code=c&state=s1&x=${script}`],
    ["a path that begins alike", "/callback/?code=c&state=s1"],
    ["an absolute URL of another host", "http://evil.example/callback?code=c&state=s1"],
    ["no query", "/callback"],
    ["no state", "/callback?code=c"],
    ["another state", `/callback?code=c&state=${script}`],
    ["two states", "/callback?code=c&state=s1&state=s2"],
    ["a name that was rebound to this machine", "/callback?code=c&state=s1", { host: "evil.example" }],
    ["another port in the Host", "/callback?code=c&state=s1", { host: "127.0.0.1:1" }],
    ["localhost, which is not the redirect URI", "/callback?code=c&state=s1", { host: "localhost" }],
    ["another method", "/callback?code=c&state=s1", { method: "POST" }],
  ])("%s is answered with a fixed page, and the sign-in continues", async (_what, query, options) => {
    const attempt = await prepare();
    const visit = attempt.visit(authorizationUrl, never);
    const { origin } = new URL(attempt.redirectUri);
    const plain = await get(`${origin}/`);
    const answer = await get(origin, { path: query, ...options });
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual(plain.body);
    expect(answer.body).not.toContain("script");
    await get(`${attempt.redirectUri}?code=right&state=s1`);
    expect((await visit).searchParams.get("code")).toBe("right");
  });

  test("a redirect before the visit is answered with 404", async () => {
    const attempt = await prepare();
    expect((await get(`${attempt.redirectUri}?code=c&state=s1`)).status).toBe(404);
  });
});

describe("the port", () => {
  test("is that of the earlier registration if it is free, otherwise another one", async () => {
    const first = await prepare();
    const other = await prepare({}, first.redirectUri);
    expect(other.redirectUri).not.toBe(first.redirectUri);
    await first.close();
    expect((await prepare({}, first.redirectUri)).redirectUri).toBe(first.redirectUri);
  });

  test.each(["https://example.com/callback", "http://127.0.0.1:80/callback", "http://127.0.0.1:99999/callback", "x"])(
    "of %s is not used",
    async (previous) => {
      expect((await prepare({}, previous)).redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d{4,5}\/callback$/);
    },
  );

  test("is free again when the attempt is closed, also if a connection is open", async () => {
    const attempt = await prepare();
    const { port } = new URL(attempt.redirectUri);
    const held: Socket = connect(Number(port), "127.0.0.1");
    await once(held, "connect");
    held.write("GET /callback?");
    held.on("error", () => {});
    await attempt.close();
    await attempt.close();
    await expect(get(`${attempt.redirectUri}?code=c&state=s1`)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("a registered redirect URI of this machine", () => {
  test.each([
    ["http://127.0.0.1:PORT/callback"],
    ["http://127.0.0.1:PORT/a/b"],
    ["http://127.0.0.1:PORT/"],
    ["http://127.0.0.1:PORT"],
    ["http://localhost:PORT/callback"],
  ])("with a port is used exactly: %s", async (uri) => {
    const free = await prepare();
    await free.close();
    const registered = uri.replace("PORT", new URL(free.redirectUri).port);
    const attempt = await prepare({}, registered);
    expect(attempt.redirectUri).toBe(registered);
    const visit = attempt.visit(authorizationUrl, never);
    const target = new URL(registered);
    const host = target.host;
    target.hostname = "127.0.0.1";
    expect((await get(`${target.href}?code=c&state=s1`, { host })).status).toBe(200);
    expect((await visit).href).toBe(`${new URL(registered).href}?code=c&state=s1`);
  });

  test.each(hasIpv6 ? ["127.0.0.1", "[::1]"] : ["127.0.0.1"])(
    "with the name localhost is received at %s",
    async (address) => {
      const attempt = await prepare({}, "http://localhost/callback");
      const visit = attempt.visit(authorizationUrl, never);
      const { port, host } = new URL(attempt.redirectUri);
      const { status } = await get(`http://${address}:${port}/callback?code=c&state=s1`, { host });
      expect(status).toBe(200);
      expect((await visit).href).toBe(`http://localhost:${port}/callback?code=c&state=s1`);
      await attempt.close();
      await expect(get(`http://${address}:${port}/callback?code=c&state=s1`)).rejects.toThrow("ECONNREFUSED");
    },
  );

  test.each(hasIpv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"])(
    "with the name localhost is not used if another program listens at %s",
    async (address) => {
      const other = createServer().listen(0, address);
      await once(other, "listening");
      const { port } = other.address() as AddressInfo;
      const { redirectUri } = await prepare({}, `http://localhost:${port}/callback`);
      expect(redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
      expect(new URL(redirectUri).port).not.toBe(String(port));
      other.close();
    },
  );

  test.each([["http://127.0.0.1/callback"], ["http://localhost/a"], ["http://127.0.0.1"]])(
    "without a port gets a free port: %s",
    async (uri) => {
      const { redirectUri } = await prepare({}, uri);
      expect(redirectUri.replace(/:\d{4,5}(?=\/|$)/, "")).toBe(uri);
    },
  );

  test.each([
    ["http://127.0.0.1/callback?x=1"],
    ["http://127.0.0.1//evil.example"],
    ["http://127.0.0.1.evil.example/callback"],
    ["http://localhost:0/callback"],
    ["http://user@127.0.0.1/callback"],
    ["https://127.0.0.1/callback"],
  ])("of another form is not used: %s", async (uri) => {
    expect((await prepare({}, uri)).redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d{4,5}\/callback$/);
  });
});

describe("no redirect arrives", () => {
  test("within the time limit", async () => {
    const clock = fakeClock();
    const attempt = await prepare({ clock });
    const visit = attempt.visit(authorizationUrl, never);
    const outcome = expect(visit).rejects.toMatchObject({ code: "timeout", message: expect.stringContaining("600 s") });
    await clock.advance(600_000);
    await outcome;
    expect((await get(`${attempt.redirectUri}?code=c&state=s1`)).status).toBe(404);
  });

  test("within one second", async () => {
    const clock = fakeClock();
    const attempt = await prepare({ clock, timeLimit: 1_000 });
    const message = "The user did not return from the sign-in within 1 second.";
    const outcome = expect(attempt.visit(authorizationUrl, never)).rejects.toMatchObject({ message });
    await clock.advance(1_000);
    await outcome;
  });

  test("before the caller aborts", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const attempt = await prepare({ clock });
    const visit = attempt.visit(authorizationUrl, controller.signal);
    controller.abort(new Error("given up"));
    await expect(visit).rejects.toThrow("given up");
    expect(clock.pending).toBe(0);
    await expect(attempt.visit(authorizationUrl, controller.signal)).rejects.toThrow("given up");
  });

  test("because no browser can be opened: the error contains no URL, because nothing listens for its redirect", async () => {
    const attempt = await prepare({ open: () => Promise.reject(new Error("no display")) });
    const error: unknown = await attempt.visit(authorizationUrl, never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "sign_in_required",
      message: expect.stringContaining("no display") as string,
    });
    expect(JSON.stringify([error, String(error)])).not.toContain(authorizationUrl.origin);
  });

  test("because the URL must not be opened", async () => {
    const attempt = await loopbackSignIn().prepare(undefined);
    attempts.push(attempt);
    await expect(attempt.visit(new URL("file:///etc/passwd"), never)).rejects.toThrow("only https URLs");
  });
});
