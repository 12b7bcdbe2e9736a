import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { type HostEvent, createHost } from "@mcparley/host";
import type { SignIn } from "mcparley/auth";
import { connect } from "mcparley/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runClientCommand } from "../../packages/cli/src/commands/run.ts";
import { type FakeIo, fakeIo } from "../../packages/cli/src/commands/testing/fake-io.ts";
import { type StrictIssuer, startStrictIssuer, visit } from "./strict-issuer.ts";

const secretMethods = ["client_secret_post", "client_secret_basic"];
const orders = [{ methods: secretMethods }, { methods: secretMethods.toReversed() }];

let issuer: StrictIssuer;
let home: string;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "mcparley-home-"));
});
afterEach(async () => {
  await issuer.close();
  rmSync(home, { recursive: true, force: true });
});

/** Returns a port of this machine that is free. */
async function freePort(): Promise<number> {
  const listening = createServer().listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  listening.close();
  await once(listening, "close");
  return port;
}

interface Ran {
  code: number;
  io: FakeIo;
}

/** Runs a command at a terminal, with a browser that follows redirects. */
async function run(words: string[], env: Record<string, string> = {}): Promise<Ran> {
  const io = fakeIo({ terminal: true, answers: ["y", "y"], env: { HOME: home, NO_COLOR: "1", ...env }, connect });
  const openUrl = async (url: string | URL): Promise<void> => {
    io.launched.push([String(url)]);
    void visit(url).then((back) => fetch(back));
  };
  const [name = "", ...rest] = words;
  const code = await runClientCommand(name, rest, { ...io, openUrl });
  return { code, io };
}

describe.each(orders)(
  "the command, at an issuer that reads client_id from the form and announces $methods",
  ({ methods }) => {
    test("signs in, calls, shows the account and signs out", async () => {
      issuer = await startStrictIssuer(methods);
      const { url, world } = issuer;
      expect((await run(["login", url])).code).toBe(0);
      const called = await run(["call", url, "add", "a=1", "b=2"]);
      expect(called.io.out()).toBe("3\n");
      expect((await run(["whoami", url])).io.out()).toContain("client-1");
      const out = await run(["logout", url]);
      expect(out.io.out()).toContain("The tokens were revoked.");
      expect(world.registrations).toHaveLength(1);
      expect(world.visits).toHaveLength(1);
      expect(world.live.size).toBe(0);
    });

    test.each(secretMethods)("signs in as a client that was registered by hand with %s", async (method) => {
      issuer = await startStrictIssuer(methods);
      const { url, world } = issuer;
      world.clients.add("by-hand");
      const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
      world.credentials.set("by-hand", { method, secret: "s3cr3t-4711", redirectUri });
      const client = ["--client-id", "by-hand", "--client-secret-env", "SECRET", "--redirect-uri", redirectUri];
      const words = ["login", url, "-v", ...client];
      const { code, io } = await run(words, { SECRET: "s3cr3t-4711" });
      expect([code, world.registrations, world.visits.length]).toEqual([0, [], 1]);
      expect((await run(["call", url, "add", "a=1", "b=2"])).io.out()).toBe("3\n");
      // The next sign-in of this client has the same redirect URI, without the option.
      world.live.clear();
      world.answerToken = () => {
        world.answerToken = undefined;
        return Response.json({ error: "invalid_grant" }, { status: 400 });
      };
      const renewed = await run(["call", url, "add", "a=1", "b=2"]);
      expect(renewed.io.out()).toBe("3\n");
      expect(renewed.io.err().replaceAll(/\s+/g, " ")).toContain(
        `Reason: The authorization server "${new URL(url).origin}" refused to refresh tokens: invalid_grant.`,
      );
      expect(world.visits).toHaveLength(2);
      expect((await run(["logout", url])).io.out()).toContain("The tokens were revoked.");
      expect(io.err()).not.toContain("s3cr3t-4711");
    });
  },
);

describe("the command, at an issuer that refuses every client", () => {
  test("ends the sign-in with the issuer's reason and the cure", async () => {
    issuer = await startStrictIssuer(secretMethods);
    issuer.refuseClients();
    const { url, world } = issuer;
    for (let i = 0; i < 3; i++) {
      const { code, io } = await run(["login", url, "--timeout", "30s"]);
      expect(code).toBe(3);
      const lines = io.err().replaceAll(/\s+/g, " ");
      expect(lines).toContain(`mcparley: The authorization server "${new URL(url).origin}" refused to`);
      expect(lines).toContain("invalid_client (Clients are closed).");
      expect(lines).toContain(`mcparley login ${url} --client-id ID --client-secret-env NAME`);
    }
    expect(world.registrations).toHaveLength(2);
    expect(world.visits).toHaveLength(2);
    expect(world.tokenRequests).toHaveLength(4);
  });

  test("fails a call that needs a sign-in with the same reason", async () => {
    issuer = await startStrictIssuer(secretMethods);
    issuer.refuseClients();
    const { code, io } = await run(["call", issuer.url, "add"]);
    expect(code).toBe(3);
    const lines = io.err().replaceAll(/\s+/g, " ");
    expect(lines).toContain("Another client is registered, and the sign-in starts again.");
    expect(lines).toContain("no third one is made");
    expect(issuer.world.registrations.length).toBeLessThanOrEqual(2);
  });

  test("-v shows each step and each refusal, without secrets", async () => {
    issuer = await startStrictIssuer(secretMethods);
    issuer.refuseClients();
    const { url, world } = issuer;
    const origin = new URL(url).origin;
    const { io } = await run(["login", url, "-v"]);
    const own = io
      .err()
      .split("\n")
      .filter((line) => !line.startsWith(`${origin}/authorize`));
    for (const step of [
      `GET ${origin}/.well-known/oauth-protected-resource/mcp: 200`,
      `GET ${origin}/.well-known/oauth-authorization-server: 200`,
      `POST ${origin}/register: 201`,
      'Client "client-1", client_secret_post',
      `POST ${origin}/token, authorization_code: 401`,
      `The authorization server "${origin}" refused to issue tokens: invalid_client (Clients are closed).`,
    ]) {
      expect(own).toContain(step);
    }
    const text = own.join("\n");
    expect(text).toContain(`Authorization URL ${origin}/authorize?response_type=code&client_id=client-1`);
    const states = world.authorizations.flatMap((sent) => [sent.get("state"), sent.get("code_challenge")]);
    const sent = world.tokenRequests.flatMap((form) => [form.get("code_verifier"), form.get("client_secret")]);
    for (const secret of [...states, ...sent]) {
      expect(secret).toMatch(/.{8}/);
      expect(text).not.toContain(secret);
    }
  });
});

test("a refused renewal is in the error of a call that cannot sign in, also of a later one and as JSON", async () => {
  issuer = await startStrictIssuer(["none"]);
  const { url, world } = issuer;
  world.lifetime = 1;
  expect((await run(["login", url])).code).toBe(0);
  world.live.clear();
  const refusal = { error: "invalid_grant", error_description: "User disabled" };
  world.answerToken = () => Response.json(refusal, { status: 400 });
  const reason = "refused to refresh tokens: invalid_grant (User disabled).";
  const first = await run(["call", url, "add", "--no-input"]);
  expect(first.code).toBe(3);
  expect(first.io.err().replaceAll(/\s+/g, " ")).toContain(reason);
  const later = await run(["call", url, "add", "--no-input", "--json"]);
  const { error } = JSON.parse(later.io.out()) as { error: { code: string; message: string } };
  expect(error).toMatchObject({ code: "sign_in_required", message: expect.stringContaining(reason) as string });
});

test("login after the issuer has lost its registrations registers another client", async () => {
  issuer = await startStrictIssuer(secretMethods);
  const { url, world } = issuer;
  expect((await run(["login", url])).code).toBe(0);
  world.credentials.clear();
  world.clients.clear();
  world.live.clear();
  expect((await run(["login", url])).code).toBe(0);
  expect(world.registrations).toHaveLength(2);
  expect(world.visits).toHaveLength(2);
});

test("--redirect-uri is a URL of this machine, needs a client, and must be free", async () => {
  issuer = await startStrictIssuer(secretMethods);
  const { url } = issuer;
  const alone = await run(["login", url, "--redirect-uri", "http://127.0.0.1:7777/callback"]);
  expect([alone.code, alone.io.err()]).toEqual([
    1,
    "mcparley: --redirect-uri needs the client too: add --client-id ID.\n",
  ]);
  const invalid = await run(["login", url, "--client-id", "c", "--redirect-uri", "callback"]);
  expect([invalid.code, invalid.io.err()]).toEqual([1, 'mcparley: --redirect-uri must be a URL, not "callback".\n']);
  for (const uri of [
    "https://app.example/callback",
    "http://localhost:80/a",
    "http://127.0.0.1/a?b=c",
    "app:/callback",
  ]) {
    const unusable = await run(["login", url, "--client-id", "c", "--redirect-uri", uri]);
    expect([uri, unusable.code]).toEqual([uri, 1]);
    expect(unusable.io.err().replaceAll(/\s+/g, " ")).toContain("This command cannot listen at --redirect-uri");
  }
  const taken = `http://127.0.0.1:${new URL(url).port}/callback`;
  const busy = await run(["login", url, "--client-id", "c", "--redirect-uri", taken]);
  expect(busy.code).toBe(3);
  expect(busy.io.err().replaceAll(/\s+/g, " ")).toContain("Check that its port is free");
  expect(issuer.world.visits).toEqual([]);
});

describe("a host", () => {
  /** The sign-in of a user whose browser follows redirects. */
  const signIn: SignIn = {
    prepare: () =>
      Promise.resolve({ redirectUri: "http://127.0.0.1:7777/callback", visit, close: () => Promise.resolve() }),
  };

  test.each(orders)(
    "signs in and calls at an issuer that announces $methods, and emits each step",
    async ({ methods }) => {
      issuer = await startStrictIssuer(methods);
      const events: HostEvent[] = [];
      const host = await createHost({
        folder: false,
        servers: { strict: issuer.url },
        policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
        signIn,
        onEvent: (event) => events.push(event),
      });
      await host.servers.get("strict")?.signIn();
      await host.ready();
      expect(await host.callTool("strict__add", { a: 1, b: 2 })).toMatchObject({ status: "result" });
      const steps = events.flatMap((event) => (event.type === "sign-in" ? [`${event.server}: ${event.step}`] : []));
      expect(steps).toContain(`strict: POST ${new URL(issuer.url).origin}/register: 201`);
      await host.close();
    },
  );

  test("reports the issuer's reason, and registers no third client", async () => {
    issuer = await startStrictIssuer(secretMethods);
    issuer.refuseClients();
    const host = await createHost({
      folder: false,
      servers: { strict: issuer.url },
      policy: { trust: "configured" },
      signIn,
    });
    const server = host.servers.get("strict");
    for (let i = 0; i < 3; i++) {
      await expect(server?.signIn()).rejects.toMatchObject({
        code: "sign_in_failed",
        message: expect.stringMatching(
          /^The sign-in at server "strict" failed\. .+: invalid_client \(Clients are closed\)/,
        ),
      });
      expect(server?.state).toBe("needs-sign-in");
    }
    await expect(server?.connect()).rejects.toMatchObject({ code: "sign_in_required" });
    expect(issuer.world.registrations).toHaveLength(2);
    expect(issuer.world.visits).toHaveLength(2);
    await host.close();
  });
});

describe("the client of a command", () => {
  beforeEach(async () => {
    issuer = await startStrictIssuer(secretMethods);
    issuer.world.managesClients = true;
    issuer.world.metadata.scopes_supported = ["offline_access"];
    issuer.world.challenge = 'scope="notes"';
  });

  test("is replaced by login --new-client, and deleted at the issuer by the logout of its last server", async () => {
    const { url, world } = issuer;
    await run(["login", url]);
    const [first] = world.clients;
    expect((await run(["login", url, "--new-client"])).code).toBe(0);
    expect(world.registrations).toHaveLength(2);
    expect([...world.clients]).toEqual([expect.not.stringMatching(`^${first}$`)]);
    expect((await run(["logout", url])).io.out()).toContain("The tokens were revoked");
    expect(world.clients.size).toBe(0);
  });

  test("cannot be new and registered by hand", async () => {
    const { url, world } = issuer;
    const { code, io } = await run(["login", url, "--new-client", "--client-id", "by-hand"]);
    expect(code).toBe(1);
    expect(io.err().replaceAll(/\s+/g, " ")).toContain(
      "--new-client registers a client, so it cannot be used with --client-id.",
    );
    expect(world.asked).toEqual([]);
  });

  test("replaces one that was registered by hand with --new-client", async () => {
    const { url, world } = issuer;
    world.clients.add("by-hand");
    world.credentials.set("by-hand", { method: "none" });
    expect((await run(["login", url, "--client-id", "by-hand"])).code).toBe(0);
    expect((await run(["login", url, "--new-client"])).code).toBe(0);
    const { io } = await run(["whoami", url, "--json"]);
    expect(JSON.parse(io.out())).toMatchObject({ clientId: expect.not.stringMatching("by-hand") as string });
  });

  test("is named in a hint if the browser does not return", async () => {
    const { url, world } = issuer;
    const { io } = await run(["login", url]);
    expect(io.err().replaceAll(/\s+/g, " ")).toContain(
      `If its page names an unknown client, press Ctrl-C and register another one: mcparley login ${url} --new-client. For other errors`,
    );
    world.clients.add("by-hand");
    world.credentials.set("by-hand", { method: "none" });
    const byHand = await run(["login", url, "--client-id", "by-hand"]);
    expect(byHand.code).toBe(0);
    expect(byHand.io.err()).not.toContain("--new-client");
  });

  test("requests offline_access, unless --no-offline or --scope is given", async () => {
    const { url, world } = issuer;
    for (const words of [[], ["--no-offline"], ["--scope", "b a"]]) await run(["login", url, ...words]);
    expect(world.authorizations.map((sent) => sent.get("scope"))).toEqual(["notes offline_access", "notes", "b a"]);
  });

  test("signs in again without offline_access if the issuer refuses it, and the user reads why", async () => {
    const { url, world } = issuer;
    world.answerToken = () =>
      world.authorizations.at(-1)?.get("scope")?.includes("offline_access")
        ? Response.json({ error: "not_allowed", error_description: "No offline tokens" }, { status: 400 })
        : undefined;
    const { code, io } = await run(["login", url]);
    expect(code).toBe(0);
    expect(io.err().replaceAll(/\s+/g, " ")).toContain(
      "not_allowed (No offline tokens). The sign-in starts again without offline_access.",
    );
  });
});
