import { describe, expect, test } from "vitest";
import { type ScriptedIssuer, scriptedIssuer } from "mcparley-tests/support/scripted-issuer.ts";
import { fakeClock } from "../../../testing/fake-clock.ts";
import { sendHttp } from "../../../http/client/send.ts";
import { readHttpTarget } from "../../../http/client/settings.ts";
import { memoryCredentials } from "../credentials.ts";
import { oauth } from "../oauth.ts";
import type { OAuth, OAuthOptions } from "../options.ts";

const issuer = "https://as.example";
const notes = "https://mcp.example/mcp";
const mail = "https://mail.example/mcp";

/** Two MCP servers at one issuer, and processes that share a storage. */
function setting() {
  const world = scriptedIssuer({ server: notes });
  const other = scriptedIssuer({ server: mail });
  other.resourceMetadata = { resource: mail, authorization_servers: [issuer] };
  const isMail = (url: string): boolean => url.startsWith(new URL(mail).origin);
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!isMail(request.url)) return world.fetch(request);
    other.live.clear();
    for (const [token, scope] of world.live) other.live.set(token, scope);
    return other.fetch(request);
  };
  const clock = fakeClock(1_000_000);
  const storage = memoryCredentials();
  const steps: string[] = [];
  const start = (port = 7777, options: OAuthOptions = {}): OAuth =>
    oauth({
      storage,
      fetch,
      clock,
      signIn: world.person({ redirectUri: `http://127.0.0.1:${port}/callback` }),
      onStep: (step) => steps.push(step),
      ...options,
    });
  const call = async (auth: OAuth, url: string): Promise<number> => {
    const settings = readHttpTarget({ url, auth, fetch });
    const { signal } = new AbortController();
    return (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
  };
  return { world, clock, storage, steps, start, call };
}

const deletions = ({ asked }: ScriptedIssuer): string[] =>
  asked.filter((line) => line.startsWith("DELETE ")).map((line) => line.slice(line.lastIndexOf("/") + 1));

describe("sign-ins of two servers at one issuer with different redirect URIs", () => {
  test("keep both clients, and each renews and revokes its own tokens", async () => {
    const { world, clock, start, call } = setting();
    const [first, second] = await Promise.all([start(7777).signIn(notes), start(8888).signIn(mail)]);
    expect(world.registrations).toHaveLength(2);
    expect(first.clientId).not.toBe(second.clientId);
    await clock.advance(world.lifetime * 1_000);
    world.live.clear();
    expect(await call(start(), notes)).toBe(202);
    expect(await call(start(), mail)).toBe(202);
    expect(world.visits).toHaveLength(2);
    const renewals = world.tokenRequests.filter((sent) => sent.get("grant_type") === "refresh_token");
    expect(renewals.map((sent) => sent.get("client_id"))).toEqual([first.clientId, second.clientId]);
    expect(await start().signOut(notes)).toBe("revoked");
    expect(await start().signOut(mail)).toBe("revoked");
    expect(world.live.size).toBe(0);
  });

  test("share the newest client if a later sign-in can use its redirect URI, and the unused client is deleted", async () => {
    const { world, start } = setting();
    world.managesClients = true;
    const first = await start(7777).signIn(notes);
    const second = await start(8888).signIn(mail);
    expect(deletions(world)).toEqual([]);
    const prepared: (string | undefined)[] = [];
    const signIn = {
      prepare(previous?: string) {
        prepared.push(previous);
        return world.person({ redirectUri: String(previous) }).prepare();
      },
    };
    expect(await start(1, { signIn }).signIn(notes)).toMatchObject({ clientId: second.clientId });
    expect(prepared).toEqual(["http://127.0.0.1:8888/callback"]);
    expect(deletions(world)).toEqual([first.clientId]);
    expect(world.registrations).toHaveLength(2);
  });
});

describe("a registered port that is not free", () => {
  test("needs no second registration at an issuer that accepts any port (RFC 8252, 7.3)", async () => {
    const { world, start } = setting();
    world.metadata.pushed_authorization_request_endpoint = `${issuer}/par`;
    world.redirectUris = "any port";
    const first = await start(7777).signIn(notes);
    expect(world.registrations).toMatchObject([
      { redirect_uris: ["http://127.0.0.1:7777/callback", "http://127.0.0.1/callback"] },
    ]);
    expect(await start(8888).signIn(mail)).toMatchObject({ clientId: first.clientId });
    expect(world.registrations).toHaveLength(1);
    expect(world.authorizations.map((sent) => sent.get("redirect_uri"))).toEqual([
      "http://127.0.0.1:7777/callback",
      "http://127.0.0.1:8888/callback",
    ]);
  });

  test.each([true, false])(
    "needs one at an issuer that does not, and no page shows an error (PAR: %s)",
    async (hasPush) => {
      const { world, start } = setting();
      if (hasPush) world.metadata.pushed_authorization_request_endpoint = `${issuer}/par`;
      world.redirectUris = "registered";
      await start(7777).signIn(notes);
      await start(8888).signIn(mail);
      expect(world.registrations).toHaveLength(2);
      expect(world.visits).toHaveLength(2);
    },
  );

  test("is not tried at the issuer after the sign-in was aborted", async () => {
    const { world, start } = setting();
    world.metadata.pushed_authorization_request_endpoint = `${issuer}/par`;
    await start(7777).signIn(notes);
    const controller = new AbortController();
    world.answerPush = () => {
      controller.abort(new Error("stopped"));
      return new Response(null, { status: 500 });
    };
    await expect(start(8888).signIn(notes, { signal: controller.signal })).rejects.toThrow("stopped");
    expect(world.registrations).toHaveLength(1);
  });

  test.each([
    ["invalid_redirect_uri", 2],
    ["invalid_client_metadata", 2],
    ["access_denied", 1],
  ])("is registered alone if the issuer refuses a redirect URI without a port: %s", async (error, requests) => {
    const { world, start } = setting();
    world.metadata.pushed_authorization_request_endpoint = `${issuer}/par`;
    const sent: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.endsWith("/register")) return world.fetch(request);
      const { redirect_uris: uris } = (await request.clone().json()) as { redirect_uris: string[] };
      sent.push(uris);
      return uris.length === 1 ? world.fetch(request) : Response.json({ error }, { status: 400 });
    };
    const outcome: unknown = await start(7777, { fetch })
      .signIn(notes)
      .catch((refused: unknown) => refused);
    const [both, alone] = [
      ["http://127.0.0.1:7777/callback", "http://127.0.0.1/callback"],
      ["http://127.0.0.1:7777/callback"],
    ];
    expect(sent).toEqual([both, alone].slice(0, requests));
    expect(outcome).toMatchObject(requests === 2 ? { issuer } : { data: { error } });
  });
});

describe("a sign-out", () => {
  test("deletes the registration here and at the issuer after its last server", async () => {
    const { world, start } = setting();
    world.managesClients = true;
    const { clientId } = await start().signIn(notes);
    await start().signIn(mail);
    expect(world.registrations).toHaveLength(1);
    await start().signOut(notes);
    expect(deletions(world)).toEqual([]);
    await start().signOut(mail);
    expect(deletions(world)).toEqual([clientId]);
    expect(world.clients.size).toBe(0);
    await start().signIn(notes);
    expect(world.registrations).toHaveLength(2);
  });

  test("forgets a registration that the issuer has deleted, and one that the issuer cannot delete", async () => {
    const { world, start } = setting();
    const stored = await start().signIn(notes);
    await start().signOut(notes);
    world.clients.clear();
    const next = await start().signIn(notes);
    expect(next.clientId).not.toBe(stored.clientId);
    world.clients.clear();
    await start().signOut(notes);
    await start().signIn(notes);
    expect(world.registrations).toHaveLength(3);
    expect(world.visits).toHaveLength(3);
  });

  test("of an issuer that is down forgets the registration too", async () => {
    const { world, start } = setting();
    world.managesClients = true;
    await start().signIn(notes);
    const down: typeof fetch = () => Promise.reject(new TypeError("fetch failed"));
    await expect(start(7777, { fetch: down }).signOut(notes)).rejects.toMatchObject({ code: "unreachable" });
    await start().signIn(notes);
    expect(world.registrations).toHaveLength(2);
  });
});

describe("the endpoint of a registration (RFC 7592)", () => {
  test("shows that the client exists, and its new access token is used for the next request", async () => {
    const { world, start, steps } = setting();
    world.managesClients = true;
    const { clientId } = await start().signIn(notes);
    for (let i = 0; i < 3; i++) expect(await start().signIn(notes)).toMatchObject({ clientId });
    expect(world.tokenRequests.map((sent) => sent.get("grant_type"))).toEqual(Array(4).fill("authorization_code"));
    await start().signOut(notes);
    expect(deletions(world)).toEqual([clientId]);
    expect(steps.join("\n")).not.toMatch(/registration-\d/);
  });

  test("and the token endpoint show that the client was deleted, before a page opens", async () => {
    const { world, start } = setting();
    world.managesClients = true;
    const { clientId } = await start().signIn(notes);
    world.clients.clear();
    const renewed = await start().signIn(notes);
    expect(renewed.clientId).not.toBe(clientId);
    expect(world.visits).toHaveLength(2);
    expect(world.authorizations.at(-1)?.get("client_id")).toBe(renewed.clientId);
  });

  test.each([
    ["invalid_client", true, true],
    ["invalid_client", false, true],
    // The code may mean that the client may not use refresh tokens.
    ["unauthorized_client", true, true],
    ["unauthorized_client", false, false],
    ["invalid_grant", true, false],
  ])(
    "and a token endpoint that answers %s, with a refusal of the registration token %s, replace the client: %s",
    async (error, managesClients, isReplaced) => {
      const { world, start } = setting();
      world.managesClients = managesClients;
      const { clientId } = await start().signIn(notes);
      const refuse = async (request: Request): Promise<Response> =>
        request.method === "GET" && request.url.includes("/register/")
          ? Response.json({ error: "invalid_token" }, { status: 401 })
          : world.fetch(request);
      const fetch: typeof globalThis.fetch = (input, init) => refuse(new Request(input, init));
      world.answerToken = (sent) =>
        sent.get("grant_type") === "refresh_token" ? Response.json({ error }, { status: 400 }) : undefined;
      const { clientId: later } = await start(7777, { fetch }).signIn(notes);
      expect(later !== clientId).toBe(isReplaced);
      expect(world.visits).toHaveLength(2);
    },
  );

  test("may omit the secret, which stays in use", async () => {
    const { world, start } = setting();
    world.isStrict = true;
    world.managesClients = true;
    world.registeredMethod = "client_secret_post";
    const { clientId } = await start().signIn(notes);
    expect(await start().signIn(notes)).toMatchObject({ clientId });
    expect(world.tokenRequests.map((sent) => sent.get("client_secret"))).toEqual(Array(2).fill(`secret-${clientId}`));
    expect(await start().signOut(notes)).toBe("revoked");
  });

  test("is not used if it is not at the origin of the issuer", async () => {
    const { world, start } = setting();
    const elsewhere: string[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (request.url.startsWith("https://evil.example")) elsewhere.push(request.url);
      const response = await world.fetch(request);
      if (!request.url.endsWith("/register")) return response;
      const client = { registration_client_uri: "https://evil.example/c", registration_access_token: "registration-1" };
      return Response.json({ ...((await response.json()) as object), ...client }, { status: 201 });
    };
    for (let i = 0; i < 2; i++) await start(7777, { fetch }).signIn(notes);
    await start(7777, { fetch }).signOut(notes);
    expect(elsewhere).toEqual([]);
    expect(world.registrations).toHaveLength(1);
  });
});

describe("signIn with newClient", () => {
  test("registers another client and deletes the one before, after the tokens of the new one are stored", async () => {
    const { world, start, call } = setting();
    world.managesClients = true;
    const { clientId } = await start().signIn(notes);
    const auth = start();
    const declined = start(7777, { signIn: world.person({ back: () => Promise.reject(new Error("closed")) }) });
    await expect(declined.signIn(notes, { newClient: true })).rejects.toThrow("closed");
    expect(await call(auth, notes)).toBe(202);
    expect(deletions(world)).toEqual([]);
    const renewed = await start().signIn(notes, { newClient: true });
    expect(renewed.clientId).not.toBe(clientId);
    expect(world.registrations).toHaveLength(3);
    expect(deletions(world)).toEqual([clientId]);
    expect(await call(auth, notes)).toBe(202);
    expect(await start().signIn(notes)).toMatchObject({ clientId: renewed.clientId });
  });

  test("registers one client if the sign-in is repeated without offline_access", async () => {
    const { world, start } = setting();
    world.metadata.scopes_supported = ["offline_access"];
    world.challenge = 'scope="notes"';
    await start().signIn(notes);
    world.answerToken = () =>
      world.authorizations.at(-1)?.get("scope")?.includes("offline_access")
        ? Response.json({ error: "invalid_scope" }, { status: 400 })
        : undefined;
    await start().signIn(notes, { newClient: true });
    expect(world.visits).toHaveLength(3);
    expect(world.registrations).toHaveLength(2);
  });

  test("does so within ten minutes of another replacement", async () => {
    const { world, start } = setting();
    await start().signIn(notes);
    world.clients.clear();
    const declined = start(7777, { signIn: world.person({ back: () => Promise.reject(new Error("closed")) }) });
    await expect(declined.signIn(notes)).rejects.toThrow("closed");
    world.clients.clear();
    await expect(start().signIn(notes)).rejects.toMatchObject({ data: { error: "invalid_client" } });
    await start().signIn(notes, { newClient: true });
    expect(world.registrations).toHaveLength(3);
  });
});

test("sign-ins that are not completed leave at most ten registrations, also at the issuer", async () => {
  const { world, storage, start } = setting();
  world.managesClients = true;
  const stored = async (): Promise<{ id: string }[]> => {
    const text = (await storage.get(`clients:${issuer}`)) ?? "";
    return (JSON.parse(text) as { clients: { id: string }[] }).clients;
  };
  const { clientId } = await start().signIn(mail);
  const abandon = async (port: number): Promise<void> => {
    const signIn = world.person({
      redirectUri: `http://127.0.0.1:${port}/callback`,
      back: () => Promise.reject(new Error("closed")),
    });
    await start(port, { signIn })
      .signIn(notes)
      .catch(() => {});
  };
  for (let port = 8000; port < 8010; port++) await abandon(port);
  expect(await stored()).toHaveLength(11);
  expect(deletions(world)).toEqual([]);
  const [, oldest] = await stored();
  await abandon(8010);
  const left = (await stored()).map(({ id }) => id);
  expect(left).toHaveLength(11);
  expect(deletions(world)).toEqual([oldest?.id]);
  expect(left).toContain(clientId);
  expect(world.clients).toEqual(new Set(left));
});

test("a storage that fails after a sign-in does not replace the error of the sign-in", async () => {
  const { world, storage, start } = setting();
  const back = (): never => {
    storage.compareAndSet = () => Promise.reject(new Error("full"));
    throw new Error("closed");
  };
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  await expect(start(7777, { signIn: world.person({ back }), onError }).signIn(notes)).rejects.toThrow("closed");
  expect(errors).toMatchObject([{ message: "full" }]);
});

describe("a client of a sign-in that waits for the user", () => {
  /** Signs in to the second server, and runs the work of other processes while the user is at the page. */
  const signInDuring = ({ world, start }: ReturnType<typeof setting>, work: () => Promise<unknown>) => {
    const back = async (url: URL): Promise<URL> => {
      await work();
      return url;
    };
    return start(7777, { signIn: world.person({ back }) }).signIn(mail);
  };

  test.each<[string, (start: () => OAuth) => Promise<unknown>]>([
    ["sign-out", (start) => start().signOut(notes)],
    ["sign-in with another client", (start) => start().signIn(notes, { newClient: true })],
  ])("is not deleted by the %s of another server, here or at the issuer", async (_, work) => {
    const all = setting();
    const { world, start, call } = all;
    world.managesClients = true;
    const first = await start().signIn(notes);
    const { clientId } = await signInDuring(all, () => work(start));
    expect(clientId).toBe(first.clientId);
    expect(deletions(world)).toEqual([]);
    expect(await call(start(), mail)).toBe(202);
    expect(await start().signOut(mail)).toBe("revoked");
    expect(deletions(world)).toEqual([clientId]);
  });

  test("is deleted as usual if the sign-in has failed, or does not end within an hour", async () => {
    const all = setting();
    const { world, clock, start } = all;
    world.managesClients = true;
    const first = await start().signIn(notes);
    await expect(signInDuring(all, () => Promise.reject(new Error("closed")))).rejects.toThrow("closed");
    await start().signOut(notes);
    expect(deletions(world)).toEqual([first.clientId]);

    const second = await start().signIn(notes);
    const late = async (): Promise<void> => {
      await clock.advance(3_600_000);
      await start().signOut(notes);
    };
    const { clientId } = await signInDuring(all, late);
    expect(deletions(world)).toEqual([first.clientId, second.clientId]);
    expect(world.clients).toEqual(new Set([clientId]));
  });

  test("is replaced if it is deleted while it is checked", async () => {
    const { world, start } = setting();
    world.managesClients = true;
    const first = await start().signIn(notes);
    world.rewrite = async (response, { path }) => {
      world.rewrite = path.startsWith("/register/") ? undefined : world.rewrite;
      if (path.startsWith("/register/")) await start().signOut(notes);
      return response;
    };
    const { clientId } = await start().signIn(mail);
    expect(clientId).not.toBe(first.clientId);
    expect(world.registrations).toHaveLength(2);
    expect(world.visits).toHaveLength(2);
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
    const call = (): Promise<unknown> =>
      start()
        .signIn(notes)
        .then(
          () => "signed in",
          (error: unknown) => error,
        );
    world.rewrite = refusal(body, status);
    expect(await call()).toMatchObject({
      code: "authorization_failed",
      message: `The authorization server "https://as.example" refused to register a client: ${body.error} (Not allowed). Register a client manually, and set the option client.`,
      data: { error: body.error, description: "Not allowed", status, request: "registration" },
    });
  });

  test("has no cure if the server is unavailable", async () => {
    const { world, start } = setting();
    const call = (): Promise<unknown> =>
      start()
        .signIn(notes)
        .then(
          () => "signed in",
          (error: unknown) => error,
        );
    world.rewrite = refusal({ error: "temporarily_unavailable" }, 503);
    const error = await call();
    expect(error).toMatchObject({ message: expect.stringMatching(/temporarily_unavailable\.$/) });
    expect(error).not.toHaveProperty("data.request");
  });
});
