import { describe, expect, test, vi } from "vitest";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuth, OAuthOptions } from "./options.ts";
import type { SignIn } from "./sign-in.ts";

interface Setting {
  world: ScriptedIssuer;
  clock: FakeClock;
  /** The steps of the sign-ins. */
  steps: string[];
  /** Starts a process that shares the storage with the others. */
  start: (options?: OAuthOptions) => Process;
}

interface Process {
  auth: OAuth;
  /** Sends a request to the MCP server and returns the status of the response. */
  call: () => Promise<number>;
}

/** An issuer that authenticates clients as the Python SDK does, and announces these methods. */
function setting(methods?: readonly string[]): Setting {
  const world = scriptedIssuer();
  world.isStrict = true;
  if (methods === undefined) delete world.metadata.token_endpoint_auth_methods_supported;
  else world.metadata.token_endpoint_auth_methods_supported = [...methods];
  const clock = fakeClock(1_000_000);
  const storage = memoryCredentials();
  const steps: string[] = [];
  const start = (options: OAuthOptions = {}): Process => {
    const onStep = (step: string): void => void steps.push(step);
    const auth = oauth({ storage, signIn: world.person(), fetch: world.fetch, clock, onStep, ...options });
    return { auth, call: () => callWith(auth, world) };
  };
  return { world, clock, steps, start };
}

async function callWith(auth: OAuth, world: ScriptedIssuer): Promise<number> {
  const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
  const { signal } = new AbortController();
  return (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
}

const failure = (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => error);
const secretMethods = ["client_secret_post", "client_secret_basic"] as const;
const bothOrders: readonly { methods: readonly string[] | undefined }[] = [
  { methods: secretMethods },
  { methods: secretMethods.toReversed() },
  { methods: [...secretMethods, "none"] },
  { methods: ["none", ...secretMethods.toReversed()] },
];
const announcements: typeof bothOrders = [
  ...bothOrders,
  { methods: ["client_secret_post"] },
  { methods: ["client_secret_basic"] },
  { methods: undefined },
];

/** Signs in, calls, renews the token, and signs out. Each request to the issuer must be accepted. */
async function liveThrough({ world, clock, start }: Setting, options: OAuthOptions = {}): Promise<void> {
  expect(await start(options).call()).toBe(202);
  await clock.advance(world.lifetime * 1_000);
  world.live.clear();
  const later = start(options);
  expect(await later.call()).toBe(202);
  expect(await later.auth.signOut(serverUrl)).toBe("revoked");
  expect(world.visits).toHaveLength(1);
  expect(new Set([...world.tokenRequests, ...world.revocationRequests].map((sent) => sent.get("client_id"))).size).toBe(
    1,
  );
  expect(world.live.size).toBe(0);
}

describe("an issuer that reads client_id from the form before the method", () => {
  test.each(announcements)("registers a client and serves it until the sign-out: $methods", async ({ methods }) => {
    const all = setting(methods);
    await liveThrough(all);
    expect(all.world.registrations).toHaveLength(1);
    expect(all.world.tokenRequests.map((sent) => sent.get("grant_type"))).toEqual([
      "authorization_code",
      "refresh_token",
    ]);
  });

  test.each(["none", ...secretMethods])("decides the method of a new client: %s", async (method) => {
    for (const { methods } of announcements) {
      const all = setting(methods);
      all.world.registeredMethod = method;
      await liveThrough(all);
    }
  });

  describe.each(["none", ...secretMethods] as const)(
    "serves a client that was registered by hand with %s",
    (method) => {
      const secret = method === "none" ? {} : { secret: "s3cr3t-1" };

      test.each(bothOrders)("announced as $methods", async ({ methods }) => {
        const all = setting(methods);
        all.world.clients.add("by-hand");
        all.world.credentials.set("by-hand", { method, ...secret });
        await liveThrough(all, { client: { id: "by-hand", ...secret } });
        expect(all.world.registrations).toEqual([]);
        // The order of the metadata does not tell the method, so at most one request has the other one.
        expect(all.world.tokenRequests.length).toBeLessThanOrEqual(3);
      });
    },
  );

  test("is told a secret by one method in each request", async () => {
    const all = setting(secretMethods);
    all.world.registeredMethod = "client_secret_basic";
    await liveThrough(all);
    for (const sent of all.world.tokenRequests) expect(sent.has("client_secret")).toBe(false);
    for (const sent of all.world.revocationRequests) expect(sent.get("client_secret") ?? "").toBe("");
  });

  test("refuses a wrong secret once for each method, and the error has its words and the cure", async () => {
    const { world, start } = setting(secretMethods);
    world.clients.add("by-hand");
    world.credentials.set("by-hand", { method: "client_secret_basic", secret: "right-secret" });
    const { call } = start({ client: { id: "by-hand", secret: "wrong-secret" } });
    const error = await failure(call());
    expect(error).toMatchObject({
      code: "authorization_failed",
      message: expect.stringMatching(
        /: invalid_client \(Invalid client_secret\)\. With client_secret_post .+: invalid_client \(Missing .+\)\. Check the id, .+ option `client`\.$/,
      ),
    });
    expect(String(error)).not.toContain("wrong-secret");
    expect(world.tokenRequests).toHaveLength(2);
    expect(world.visits).toHaveLength(1);
  });
});

/** An issuer that refuses each request to its token endpoint. */
function refusing(error: string, description = "Clients are closed"): Setting {
  const all = setting(["none"]);
  all.world.answerToken = () => Response.json({ error, error_description: description }, { status: 401 });
  return all;
}

describe("an issuer that refuses every client", () => {
  test.each(["invalid_client", "unauthorized_client"])(
    "with %s ends a sign-in after a second registration, with its words",
    async (error) => {
      const { world, start } = refusing(error);
      const errors: Error[] = [];
      const onError = (warning: Error): void => void errors.push(warning);
      expect(await failure(start({ onError }).call())).toMatchObject({
        code: "authorization_failed",
        data: { error },
        message:
          `The authorization server "https://as.example" refused to issue tokens: ${error} (Clients are closed). ` +
          "Its previous registration was refused too, so no third one is made. Register a client manually, and set the option `client`.",
      });
      expect(world.registrations).toHaveLength(2);
      expect(world.tokenRequests).toHaveLength(2);
      expect(world.visits).toHaveLength(2);
      expect(errors.map(({ message }) => message)).toEqual([
        `The authorization server "https://as.example" refused to issue tokens: ${error} (Clients are closed). ` +
          "Another client is registered, and the sign-in starts again.",
      ]);
    },
  );

  test("registers no third client, whether sign-ins are repeated or processes", async () => {
    const { world, start } = refusing("invalid_client");
    const { auth } = start();
    for (let i = 0; i < 3; i++) {
      expect(await failure(auth.signIn(serverUrl))).toMatchObject({ data: { error: "invalid_client" } });
      expect(await failure(start().call())).toMatchObject({ data: { error: "invalid_client" } });
    }
    expect(world.registrations).toHaveLength(2);
    // Later sign-ins find out that the client is refused before they send the user to the page.
    expect(world.visits).toHaveLength(2);
    expect(world.tokenRequests).toHaveLength(7);
  });

  test("causes one sign-in, however many requests of a process follow, and signIn() tries again", async () => {
    const { world, start } = refusing("invalid_client");
    const { auth, call } = start();
    const errors = [];
    for (let i = 0; i < 5; i++) errors.push(String(await failure(call())));
    const [first, ...others] = errors;
    const pause = "No other sign-in is started for 10 minutes. Call `signIn` of the authorization to sign in.";
    expect(others).toEqual(Array(4).fill(`${first} ${pause}`));
    expect(world.visits).toHaveLength(2);
    expect(world.tokenRequests).toHaveLength(2);
    await failure(auth.signIn(serverUrl));
    expect(world.tokenRequests).toHaveLength(3);
  });

  test("is asked again ten minutes later, and by a request after a successful sign-in", async () => {
    const { world, clock, start } = refusing("invalid_client");
    const { auth, call } = start();
    await failure(call());
    await clock.advance(599_999);
    await failure(call());
    expect(world.visits).toHaveLength(2);
    await clock.advance(1);
    world.answerToken = undefined;
    expect(await call()).toBe(202);
    expect(world.registrations).toHaveLength(2);

    world.live.clear();
    world.clients.clear();
    world.credentials.clear();
    expect(await call()).toBe(202);
    expect(world.registrations).toHaveLength(3);
    expect(await auth.whoami(serverUrl)).toMatchObject({ clientId: expect.any(String) });
  });

  test("after it had issued tokens refuses the renewal, the sign-in, and nothing else", async () => {
    const { world, start } = refusing("invalid_client");
    const refuse = world.answerToken;
    world.answerToken = undefined;
    const { call } = start();
    expect(await call()).toBe(202);
    world.live.clear();
    world.answerToken = refuse;
    expect(await failure(call())).toMatchObject({ data: { error: "invalid_client" } });
    await failure(call());
    expect(world.tokenRequests.map((sent) => sent.get("grant_type"))).toEqual([
      "authorization_code",
      "refresh_token",
      "authorization_code",
    ]);
    expect(world.registrations).toHaveLength(2);
    expect(world.visits).toHaveLength(2);
  });

  test("is not sent a manually registered client twice", async () => {
    const { world, start } = refusing("invalid_client");
    const { call } = start({ client: { id: "by-hand" } });
    world.credentials.set("by-hand", { method: "none" });
    for (let i = 0; i < 3; i++) await failure(call());
    expect(world.tokenRequests).toHaveLength(1);
    expect(world.registrations).toEqual([]);
  });
});

describe("a registration that the issuer has lost", () => {
  test.each(["signIn()", "a request"])("is replaced by %s before the user is sent to the page", async (how) => {
    const { world, clock, start } = setting(secretMethods);
    world.answerToken = () =>
      Response.json({ access_token: `t-${world.tokenRequests.length}`, token_type: "Bearer", expires_in: 60 });
    await start().auth.signIn(serverUrl);
    world.answerToken = undefined;
    world.credentials.clear();
    world.clients.clear();
    await clock.advance(60_000);
    const { auth, call } = start();
    if (how === "signIn()") await auth.signIn(serverUrl);
    expect(await call()).toBe(202);
    expect(world.registrations).toHaveLength(2);
    expect(world.visits).toHaveLength(2);
  });

  test("is replaced each time that it is lost", async () => {
    const { world, start } = setting(secretMethods);
    for (let round = 1; round <= 4; round++) {
      await start().auth.signIn(serverUrl);
      expect(world.registrations).toHaveLength(round);
      world.credentials.clear();
      world.clients.clear();
    }
    expect(world.visits).toHaveLength(4);
  });

  test("is used if the issuer cannot be asked about it", async () => {
    const { world, start } = setting(secretMethods);
    await start().auth.signIn(serverUrl);
    world.answerToken = (sent) =>
      sent.get("grant_type") === "refresh_token" ? new Response("down", { status: 503 }) : undefined;
    await start().auth.signIn(serverUrl);
    expect(world.registrations).toHaveLength(1);
  });
});

test.each(["invalid_grant", "invalid_request", "server_error"])(
  "two sign-ins that end with %s are not followed by a third one of a request",
  async (error) => {
    const { world, start } = refusing(error);
    const { call } = start();
    for (let i = 0; i < 5; i++) {
      expect(await failure(call())).toMatchObject({
        message: expect.stringContaining(`${error} (Clients are closed)`),
      });
    }
    expect(world.visits).toHaveLength(2);
  },
);

test("a user who does not return is sent to the page at most twice by requests", async () => {
  const { start } = setting(["none"]);
  let visits = 0;
  const visit = (): Promise<URL> => {
    visits++;
    return Promise.reject(new LocalError("timeout", "The user did not return."));
  };
  const signIn = {
    prepare: () =>
      Promise.resolve({ redirectUri: "http://127.0.0.1:7777/callback", visit, close: () => Promise.resolve() }),
  };
  const { call } = start({ signIn });
  for (let i = 0; i < 5; i++) expect(await failure(call())).toMatchObject({ code: "timeout" });
  expect(visits).toBe(2);
});

test("a server that refuses each new token causes one sign-in, also over many requests", async () => {
  const { world, start } = setting(["none"]);
  world.answerToken = () =>
    Response.json({ access_token: "useless", token_type: "Bearer", refresh_token: `r-${world.tokenRequests.length}` });
  const { call } = start();
  for (let i = 0; i < 5; i++) {
    expect(await failure(call())).toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("has just issued"),
    });
  }
  expect(world.visits).toHaveLength(1);
});

/** Returns the error of each of some requests. */
async function failures({ call }: Process, count = 5): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (let i = 0; i < count; i++) errors.push(await failure(call()));
  return errors;
}

const page = (status: number, text = "Down for maintenance"): Response =>
  new Response(`<title>${text}</title>`, { status, headers: { "content-type": "text/html" } });

describe("a token endpoint without a usable response sends the user to the page at most twice by requests:", () => {
  test.each<[string, () => Response, string]>([
    ["a page with status 200", () => page(200), "status 200"],
    ["a page with status 401", () => page(401), "Down for maintenance"],
    ["a page with status 502", () => page(502), "Down for maintenance"],
    ["status 500 without a body", () => new Response(null, { status: 500 }), "status 500"],
    ["another JSON error", () => Response.json({ error: { message: "No quota" } }, { status: 400 }), "No quota"],
    ["a token of an unknown type", () => Response.json({ access_token: "a", token_type: "mac" }), "token_type"],
    ["no token", () => Response.json({ token_type: "Bearer" }), "access_token"],
  ])("%s", async (_, response, reason) => {
    const { world, start } = setting(["none"]);
    world.answerToken = response;
    const [first, ...others] = await failures(start());
    expect(first).toMatchObject({ code: "authorization_failed", message: expect.stringContaining(reason) });
    expect(others.at(-1)).toMatchObject({ message: expect.stringMatching(`${reason}.*No other sign-in is started`) });
    expect(world.visits).toHaveLength(2);
  });

  test("no connection", async () => {
    const { world, start } = setting(["none"]);
    world.answerToken = () => Promise.reject(new TypeError("fetch failed"));
    for (const error of await failures(start())) expect(error).toMatchObject({ code: "unreachable" });
    expect(world.visits).toHaveLength(2);
  });
});

test("a sign-in of the program that throws runs at most twice by requests, and its error is shown", async () => {
  const { start } = setting(["none"]);
  const visit = vi.fn(() => Promise.reject(new Error("The window was closed")));
  const close = (): Promise<void> => Promise.resolve();
  const signIn = { prepare: () => Promise.resolve({ redirectUri: "http://127.0.0.1:7777/callback", visit, close }) };
  const errors = await failures(start({ signIn }));
  expect(errors.at(-1)).toMatchObject({
    code: "sign_in_failed",
    message: expect.stringMatching(/^The window was closed\. No other sign-in is started/),
  });
  expect(visit).toHaveBeenCalledTimes(2);
});

test("a registration endpoint that responds with a page is asked at most twice by requests", async () => {
  const { world, start } = setting(["none"]);
  const { fetch } = world;
  const register = vi.fn(() => page(403));
  const withPage: typeof fetch = (input, init) =>
    new Request(input).url.endsWith("/register") ? Promise.resolve(register()) : fetch(input, init);
  const errors = await failures(start({ fetch: withPage }));
  expect(errors[0]).toMatchObject({ message: expect.stringContaining("Down for maintenance") });
  expect(register).toHaveBeenCalledTimes(2);
});

test("a sign-in that its caller aborts is not counted as failed", async () => {
  const { world, start } = setting(["none"]);
  const person = world.person();
  const waiting: SignIn["prepare"] = async () => ({
    ...(await person.prepare()),
    visit: (_, signal) => {
      controllers.at(-1)?.abort();
      return new Promise((_resolve, reject) => {
        if (signal.aborted) reject(signal.reason as Error);
        else signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    },
  });
  const controllers: AbortController[] = [];
  const signIn = { prepare: waiting };
  const { auth } = start({ signIn });
  const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
  const pause = (): (() => void) => () => {};
  for (let i = 0; i < 3; i++) {
    const controller = new AbortController();
    controllers.push(controller);
    const request = { method: "POST" as const, headers: {}, body: "{}", signal: controller.signal, pause };
    expect(await failure(sendHttp(settings, request))).toMatchObject({
      message: expect.stringContaining("Waiting for a sign-in"),
    });
  }
  signIn.prepare = () => person.prepare();
  expect(await callWith(auth, world)).toBe(202);
});

test.each([
  ["with status 503", (error: object) => Response.json(error, { status: 503 })],
  ["with status 200", (error: object) => Response.json(error)],
  ["as text", (error: object) => new Response(JSON.stringify(error), { status: 400 })],
])("an error of the issuer %s is shown with its description", async (_, respond) => {
  const { world, start } = setting(["none"]);
  world.answerToken = () => respond({ error: "temporarily_unavailable", error_description: "Back at noon" });
  expect(await failure(start().call())).toMatchObject({
    data: { error: "temporarily_unavailable", description: "Back at noon" },
    message: expect.stringContaining("temporarily_unavailable (Back at noon)"),
  });
});

test("a secret that the issuer repeats is removed from its words, also one with other letters or at the limit of the text", async () => {
  const { world, start } = setting(["client_secret_post"]);
  const secret = "gehäime-parole-0123456789";
  const client = { id: "manual", secret, method: "client_secret_post" } as const;
  world.credentials.set("manual", client);
  world.answerToken = () =>
    Response.json(
      { error: "invalid_client", error_description: `${secret} ${"x".repeat(260)}${secret}` },
      { status: 401 },
    );
  const error = await failure(start({ client }).call());
  expect(error).toMatchObject({ code: "authorization_failed" });
  expect(String(error)).toContain("[redacted]");
  expect(String(error)).not.toMatch(/geh|parole/);
});

test.each([0, 1])("a refused token whose lifetime is %i causes no further sign-in", async (lifetime) => {
  const { world, clock, start } = setting(["none"]);
  world.answerToken = () => {
    const count = world.tokenRequests.length;
    queueMicrotask(() => void clock.advance(2_000));
    return Response.json({
      access_token: `useless-${count}`,
      token_type: "Bearer",
      refresh_token: `r-${count}`,
      expires_in: lifetime,
    });
  };
  for (const error of await failures(start())) expect(error).toMatchObject({ code: "unauthorized" });
  expect(world.visits).toHaveLength(1);
});

test("a server that always requires another scope causes three requests for scopes, and others ten minutes later", async () => {
  const { world, clock, start } = setting(["none"]);
  let scopes = 0;
  const { fetch } = world;
  const insatiable: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    if (request.url !== serverUrl || !request.headers.has("authorization")) return fetch(request);
    const challenge = `Bearer error="insufficient_scope", scope="s${++scopes}"`;
    return Promise.resolve(new Response(null, { status: 403, headers: { "www-authenticate": challenge } }));
  };
  const { auth } = start({ fetch: insatiable });
  const settings = readHttpTarget({ url: serverUrl, auth, fetch: insatiable });
  const call = async (): Promise<number> => {
    const { signal } = new AbortController();
    return (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
  };
  for (let i = 0; i < 5; i++) expect(await call()).toBe(403);
  // The first one is the sign-in.
  expect(world.visits).toHaveLength(1 + 3);
  await clock.advance(600_000);
  await call();
  expect(world.visits.length).toBeGreaterThan(4);
});

describe("members without a value", () => {
  test.each([null, "", undefined])("of a registration are as omitted ones: %j", async (none) => {
    const { world, start } = setting(["none"]);
    const { fetch } = world;
    const withEmpty: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!new Request(input).url.endsWith("/register")) return response;
      const registered = (await response.json()) as object;
      return Response.json(
        { ...registered, client_secret: none, client_secret_expires_at: none, client_uri: none },
        { status: 201 },
      );
    };
    expect(await start({ fetch: withEmpty }).call()).toBe(202);
  });

  test.each([null, "", undefined])("of issued tokens are as omitted ones: %j", async (none) => {
    const { world, start } = setting(["none"]);
    world.answerToken = () => {
      world.live.set("good", "");
      const tokens = { access_token: "good", token_type: "Bearer" };
      return Response.json({ ...tokens, refresh_token: none, scope: none, expires_in: none, id_token: none });
    };
    expect(await start().call()).toBe(202);
  });

  test.each([[[]], [null], [5], ["client_secret_post none"]])(
    "of metadata are as omitted ones: %j",
    async (methods) => {
      const { world, start } = setting();
      world.metadata.token_endpoint_auth_methods_supported = methods;
      world.metadata.scopes_supported = null;
      expect(await start().call()).toBe(202);
      expect(world.registrations).toMatchObject([{ token_endpoint_auth_method: "none" }]);
    },
  );

  test("of the methods leave the default for a client with a secret", async () => {
    const { world, start } = setting([]);
    world.clients.add("manual");
    world.credentials.set("manual", { method: "client_secret_basic", secret: "s3cr3t" });
    expect(await start({ client: { id: "manual", secret: "s3cr3t" } }).call()).toBe(202);
  });
});

test("a redirect with an error ends the sign-in with the issuer's description, without secrets", async () => {
  const { world, start } = setting(["none"]);
  const back = (url: URL): URL => {
    const state = url.searchParams.get("state") ?? "";
    const description = `Scope x is unknown ${state}\u001b[31m`;
    for (const [name, value] of [
      ["error", "invalid_scope"],
      ["error_description", description],
    ] as const)
      url.searchParams.set(name, value);
    url.searchParams.delete("code");
    return url;
  };
  const error = await failure(start({ signIn: world.person({ back }) }).call());
  expect(error).toMatchObject({
    code: "sign_in_failed",
    data: { error: "invalid_scope" },
    message:
      'The authorization server "https://as.example" ended the sign-in with the error invalid_scope (Scope x is unknown [redacted] [31m).',
  });
});

describe("the steps of a sign-in", () => {
  test("are reported in order, and contain no secret", async () => {
    const { world, steps, start } = setting(secretMethods);
    const { auth, call } = start();
    expect(await call()).toBe(202);
    await auth.signOut(serverUrl);
    const [state = "", challenge = ""] = ["state", "code_challenge"].map(
      (name) => world.authorizations[0]?.get(name) ?? "",
    );
    expect(steps.map((step) => step.replaceAll(/127\.0\.0\.1%3A\d+/g, "127.0.0.1"))).toEqual([
      "GET https://mcp.example/.well-known/oauth-protected-resource/mcp: 200",
      "GET https://as.example/.well-known/oauth-authorization-server: 200",
      "POST https://as.example/register: 201",
      'Client "client-1", client_secret_post',
      "Authorization URL https://as.example/authorize?response_type=code&client_id=client-1&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback&state=...&code_challenge=...&code_challenge_method=S256&resource=https%3A%2F%2Fmcp.example%2Fmcp",
      "POST https://as.example/token, authorization_code: 200",
      'Client "client-1", client_secret_post',
      "POST https://as.example/revoke: 200",
      "POST https://as.example/revoke: 200",
    ]);
    const text = steps.join("\n");
    const secrets = [
      state,
      challenge,
      "secret-client-1",
      ...world.tokenRequests.flatMap((sent) => [sent.get("code"), sent.get("code_verifier")]),
    ];
    for (const secret of [...secrets, ...world.revoked]) {
      expect(secret).toMatch(/.{6}/);
      expect(text).not.toContain(secret);
    }
  });

  test("contain each refusal with the issuer's words", async () => {
    const { steps, start } = refusing("invalid_client", "Go away");
    await failure(start().call());
    const refusal = 'The authorization server "https://as.example" refused to issue tokens: invalid_client (Go away).';
    expect(steps.filter((step) => step === refusal)).toHaveLength(2);
    expect(steps.filter((step) => step.startsWith("POST https://as.example/register"))).toHaveLength(2);
  });

  test("contain each refusal of an access token with the words of the server, without the token", async () => {
    const { world, steps, start } = setting(["none"]);
    world.answerToken = () => Response.json({ access_token: "useless-token", token_type: "Bearer" });
    world.challenge = 'error="invalid_token", error_description="Unknown useless-token"';
    await failure(start().call());
    expect(steps.filter((step) => step.includes("refused the access token"))).toEqual([
      "https://mcp.example/mcp refused the access token with status 401: invalid_token (Unknown [redacted])",
    ]);
  });

  test("contain a request that gets no response, and a listener that throws changes nothing", async () => {
    const { world, steps, start } = setting(["none"]);
    const { fetch } = world;
    const failing: typeof fetch = (input, init) =>
      new Request(input).url.includes("oauth-protected-resource")
        ? Promise.reject(new TypeError("fetch failed"))
        : fetch(input, init);
    const onStep = (step: string): void => {
      steps.push(step);
      throw new Error("the listener failed");
    };
    expect(await failure(start({ fetch: failing, onStep }).call())).toMatchObject({ code: "unreachable" });
    expect(steps[0]).toMatch(/^GET https:\/\/mcp\.example\/\.well-known\/oauth-protected-resource\/mcp: /);
  });
});

describe("a refused registration", () => {
  const refusal =
    (body: object, status: number) =>
    (response: Response, { path }: { path: string }) =>
      path === "/register" ? Response.json(body, { status }) : response;

  test.each([
    [{ error: "invalid_redirect_uri", error_description: "Not allowed" }, 400],
    [{ error: "insufficient_scope", error_description: "Not allowed" }, 403],
    [{ error: "access_denied", error_description: "Not allowed" }, 200],
  ])("has the reason of the server, and the cure: %j", async (body, status) => {
    const { world, start } = setting();
    world.rewrite = refusal(body, status);
    expect(await failure(start().call())).toMatchObject({
      code: "authorization_failed",
      message: `The authorization server "https://as.example" refused to register a client: ${body.error} (Not allowed). Register a client manually, and set the option client.`,
      data: { error: body.error, description: "Not allowed", status, request: "registration" },
    });
  });

  test("has no cure if the server is unavailable", async () => {
    const { world, start } = setting();
    world.rewrite = refusal({ error: "temporarily_unavailable" }, 503);
    const error = await failure(start().call());
    expect(error).toMatchObject({ message: expect.stringMatching(/temporarily_unavailable\.$/) });
    expect(error).not.toHaveProperty("data.request");
  });
});
