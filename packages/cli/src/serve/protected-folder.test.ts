import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, SignJWT, exportJWK, generateKeyPair } from "jose";
import { type Client, connect } from "mcparley/client";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runServe } from "./serve.ts";
import { type FakeIo, fakeIo } from "../commands/testing/fake-io.ts";
import { addFiles, temporaryFolder } from "./testing/temporary-folder.ts";

let key: CryptoKey;
let issuer: string;

/** An authorization server that only serves its keys. */
beforeAll(async () => {
  const pair = await generateKeyPair("ES256");
  key = pair.privateKey;
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: "k", alg: "ES256", use: "sig" };
  const http = createServer((request, response) => {
    const metadata = { issuer, jwks_uri: `${issuer}/jwks` };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(request.url === "/jwks" ? { keys: [jwk] } : metadata));
  });
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return () => void http.close();
});

const resource = "https://notes.example/mcp";
const tool =
  'import { tool } from "mcparley/server";\nexport default tool({ call: (_, ctx) => ctx.principal?.subject ?? "" });\n';
const files = {
  "tools/who.ts": tool,
  "tools/admin/wipe.ts": tool,
  "prompts/open.md": "open",
  "prompts/team/plan.md": "plan",
  "prompts/quote.md":
    "---\narguments:\n  file:\n    complete: ../resources/**.md\n---\n![](../resources/{{ file }}.md)",
  "resources/open.md": "open",
  "resources/board/minutes.md": "minutes",
  "skills/secret/SKILL.md": "---\nname: secret\ndescription: A secret.\n---\nDo it.",
};

const authYaml = (): string => `
auth:
  resource: ${resource}
  issuers: ${issuer}
  scopes: notes:read
  implies: { notes:admin: [notes:board, notes:team] }
  needs:
    tools/admin/: notes:admin
    prompts/team/plan.md: [notes:team]
    resources/board: notes:board
    skills/secret/SKILL.md: notes:secret
`;

interface Running {
  url: string;
  io: FakeIo;
  cwd: string;
}

async function serve(yaml: string, flags: string[] = []): Promise<Running> {
  const cwd = await temporaryFolder({ ...files, "server.yaml": `name: notes\n${yaml}` });
  const io = fakeIo({ cwd });
  const ended = runServe([".", "--port", "0", ...flags], io);
  onTestFinished(async () => {
    io.pressCtrlC();
    await ended;
  });
  await Promise.race([io.seen("Press Ctrl-C to stop."), ended]);
  return { io, cwd, url: /http:\/\/127\S+/.exec(io.out())![0] };
}

const sign = (claims: object): Promise<string> =>
  new SignJWT({ iss: issuer, aud: resource, sub: "alice", ...claims })
    .setProtectedHeader({ alg: "ES256", kid: "k", typ: "at+jwt" })
    .setExpirationTime("5m")
    .sign(key);

async function as(url: string, scope: string): Promise<Client> {
  const client = await connect(url, { headers: { authorization: `Bearer ${await sign({ scope })}` } });
  onTestFinished(() => client.close());
  return client;
}

async function listed(client: Client): Promise<string[]> {
  const tools = (await client.listTools().all()).map(({ name }) => name);
  const prompts = (await client.listPrompts().all()).map(({ name }) => name);
  const resources = (await client.listResources().all()).map(({ uri }) => uri);
  return [...tools, ...prompts, ...resources].toSorted((a, b) => a.localeCompare(b));
}

const forbidden = expect.objectContaining({ message: expect.stringContaining("403") });

test("requires a token over HTTP, and names the authorization server in the metadata", async () => {
  const { url } = await serve(authYaml(), ["--no-watch"]);
  const refused = await fetch(url, { method: "POST", body: "{}" });
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toContain(
    'Bearer resource_metadata="https://notes.example/.well-known/oauth-protected-resource/mcp", scope="notes:read"',
  );
  const metadata = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", url));
  expect(await metadata.json()).toMatchObject({ resource, authorization_servers: [issuer] });
  expect(await (await as(url, "")).callTool("who")).toBe("alice");
});

test("hides and refuses entries whose scopes the token lacks", async () => {
  const { url } = await serve(authYaml(), ["--no-watch"]);
  const client = await as(url, "notes:read");
  expect(await listed(client)).toEqual(["notes://resources/open.md", "open", "quote", "who"]);
  await expect(client.callTool("admin_wipe")).rejects.toEqual(forbidden);
  await expect(client.getPrompt("team/plan")).rejects.toEqual(forbidden);
  await expect(client.readResource("notes://resources/board/minutes.md")).rejects.toEqual(forbidden);
  await expect(client.readResource("skill://secret/SKILL.md")).rejects.toEqual(forbidden);
});

test("serves entries to a token with their scopes, or with a scope that implies them", async () => {
  const { url } = await serve(authYaml(), ["--no-watch"]);
  const client = await as(url, "notes:admin notes:secret");
  expect(await listed(client)).toEqual(
    expect.arrayContaining(["admin_wipe", "notes://resources/board/minutes.md", "team/plan"]),
  );
  expect(await client.callTool("admin_wipe")).toBe("alice");
  expect((await client.readResource("notes://resources/board/minutes.md")).contents).toMatchObject([
    { text: "minutes" },
  ]);
  expect((await client.readResource("skill://secret/SKILL.md")).contents).toHaveLength(1);
});

describe("a file that needs scopes cannot be read", () => {
  test("through a prompt that embeds a named file, nor through its completions", async () => {
    const { url } = await serve(authYaml(), ["--no-watch"]);
    const client = await as(url, "notes:read");
    expect((await client.getPrompt("quote", { file: "open" })).messages).toHaveLength(1);
    await expect(client.getPrompt("quote", { file: "board/minutes" })).rejects.toEqual(forbidden);
    const ref = { type: "ref/prompt", name: "quote" } as const;
    expect(await client.complete(ref, { name: "file", value: "" })).toMatchObject({ values: ["open"] });
    const template = { type: "ref/resource", uri: "notes://resources/{+path}" } as const;
    expect(await client.complete(template, { name: "path", value: "" })).toMatchObject({ values: ["open.md"] });
  });

  test("through another root, nor if it is newer than the listing", async () => {
    const { url, cwd } = await serve(`${authYaml()}roots: [{ name: again, path: ./resources/board }]`, ["--no-watch"]);
    const client = await as(url, "notes:read");
    await addFiles(cwd, { "resources/board/new.md": "new" });
    for (const path of ["again/minutes.md", "again/new.md", "resources/board/new.md"]) {
      await expect(client.readResource(`notes://${path}`)).rejects.toEqual(forbidden);
    }
  });

  test("after an edit of server.yaml while it is served", async () => {
    const { url, cwd, io } = await serve(authYaml());
    await addFiles(cwd, { "server.yaml": "name: notes\nauth: [" });
    await io.seen("server.yaml:2");
    await addFiles(cwd, { "server.yaml": "name: notes\n", "resources/later.md": "later" });
    await io.seen("the problems are corrected");
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
    const client = await as(url, "notes:read");
    await expect(client.readResource("notes://resources/board/minutes.md")).rejects.toEqual(forbidden);
  });
});

test("reports a rule for a path where nothing is served", async () => {
  const { io } = await serve(`${authYaml()}    tools/amdin: notes:admin\n`, ["--no-watch"]);
  expect(io.err()).toContain('auth.needs names "tools/amdin", where nothing is served');
});

describe("serves nothing over HTTP if auth is invalid", () => {
  test.each([
    ["auth:", "auth needs a resource"],
    ["auth: { resource: https://a.example/mcp }", "auth needs issuers"],
    ["auth: { resource: http://a.example/mcp, issuers: https://as.example }", "is not an https URL"],
    ["auth: { resource: https://a.example/mcp, issuers: [] }", "issuers is empty"],
    ["auth: { resource: https://a.example/mcp, issuers: https://as.example, need: {} }", 'unknown key "auth.need"'],
    [
      "auth: { resource: https://a.example/mcp, issuers: https://as.example, needs: { ../a: x } }",
      '"../a" is not a path of a served entry',
    ],
    [
      "auth: { resource: https://a.example/mcp, issuers: https://as.example, scopes: offline_access }",
      "is not a scope that a server can require",
    ],
    ["auth:\n  resource: [", "server.yaml:"],
    [
      "auth:\n  resource: https://a.example/mcp\n  issuers:\n    - issuer: https://as.example\n      introspection: { clientId: a, secretEnv: NO_SUCH }",
      "The environment variable NO_SUCH is not set",
    ],
  ])("%s", async (yaml, why) => {
    const io = fakeIo({ cwd: await temporaryFolder({ "server.yaml": yaml }) });
    const ended = runServe([".", "--port", "0", "--no-watch"], io);
    await expect(ended).rejects.toMatchObject({ name: "UsageError", message: expect.stringContaining(why) });
    expect(io.out()).toBe("");
  });
});
