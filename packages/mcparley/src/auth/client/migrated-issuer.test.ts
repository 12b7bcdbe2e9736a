import { expect, test } from "vitest";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuth } from "./options.ts";

const clientMetadataUrl = "https://app.example/client.json";

/** A signed-in client whose identifier is the same at every authorization server. */
function portableClient() {
  const world = scriptedIssuer();
  const storage = memoryCredentials();
  const accept = (): void => {
    world.metadata.client_id_metadata_document_supported = true;
    world.clients.add(clientMetadataUrl);
  };
  accept();
  const start = (): OAuth => oauth({ storage, clientMetadataUrl, signIn: world.person(), fetch: world.fetch });
  const call = async (auth: OAuth): Promise<number> => {
    const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
    const { signal } = new AbortController();
    return (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
  };
  const migrate = (issuer: string): void => {
    world.migrate(issuer);
    accept();
  };
  return { world, storage, start, call, migrate };
}

test.each(["the same process", "a new process"])(
  "a new authorization server receives no refresh token of the one before it, in %s",
  async (which) => {
    const { world, start, call, migrate } = portableClient();
    const first = start();
    expect(await call(first)).toBe(202);
    const [before] = world.live.keys();
    migrate("https://as2.example");
    expect(await call(which === "a new process" ? start() : first)).toBe(202);
    const later = world.tokenRequests.slice(1);
    expect(later.map((parameters) => parameters.get("grant_type"))).toEqual(["authorization_code"]);
    expect(later.join("&")).not.toContain("refresh-");
    expect(world.live.has(before ?? "")).toBe(false);
    expect(world.authorizations.map((asked) => asked.get("client_id"))).toEqual([clientMetadataUrl, clientMetadataUrl]);
  },
);

test("a server that names two authorization servers receives the tokens of the one that issued them", async () => {
  const { world, start, call } = portableClient();
  expect(await call(start())).toBe(202);
  world.resourceMetadata = {
    ...world.resourceMetadata,
    authorization_servers: ["https://other.example", "https://as.example"],
  };
  world.live.clear();
  expect(await call(start())).toBe(202);
  expect(world.tokenRequests.map((parameters) => parameters.get("grant_type"))).toEqual([
    "authorization_code",
    "refresh_token",
  ]);
  expect(world.asked.filter((line) => line.includes("other.example"))).toEqual([]);
});

test("a stored token of another issuer than the option `issuer` is not sent", async () => {
  const { world, start, call, storage } = portableClient();
  expect(await call(start())).toBe(202);
  const { server } = (await start().whoami(serverUrl)) ?? {};
  const only = oauth({
    storage,
    clientMetadataUrl,
    issuer: "https://as2.example",
    signIn: world.person(),
    fetch: world.fetch,
  });
  expect(await only.headers({ server: new URL(server ?? ""), url: new URL(server ?? ""), method: "POST" })).toEqual({});
  expect(await only.whoami(serverUrl)).toBeUndefined();
});
