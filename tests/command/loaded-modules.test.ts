import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { fileURLToPath } from "node:url";
import { listen } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { expect, onTestFinished, test } from "vitest";
import { runAndRecord, runProgram } from "./loaded-modules.ts";

const launcher = fileURLToPath(new URL("../../packages/cli/bin/mcparley.cjs", import.meta.url));

const authLibraries = /node_modules\/(?:oauth4webapi|jose)\//;
/** The chunks of the library that only servers need. */
const serverCode =
  /packages\/mcparley\/dist\/(?:server|chunks\/(?:server|answering|endpoint|json-schema-reader)-[^/]*)\.js$/;

/** The package that reads the configurations of hosts, and its parsers. */
const configurationCode = /packages\/config\/|node_modules\/(?:smol-toml|yaml)\//;

const hello = `
  import { createServer, tool } from "mcparley/server";
  import { serveStdio } from "mcparley/stdio";
  const hello = tool({ description: "Greets.", call: () => "Hello" });
  await serveStdio(createServer({ name: "hello", version: "1.0.0", tools: { hello } }));
`;

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "start", version: "1.0.0" } },
});
const answerInitialize = `
  import { createServer, tool } from "mcparley/server";
  import { serveStdio } from "mcparley/stdio";
  import { Readable } from "node:stream";
  const hello = tool({ description: "Greets.", call: () => "Hello" });
  const server = createServer({ name: "hello", version: "1.0.0", tools: { hello } });
  await serveStdio(server, { input: Readable.from([Buffer.from(${JSON.stringify(`${initialize}\n`)})]) });
`;

/** Starts a server on HTTP that needs no authorization, and returns its URL. */
async function openServer(): Promise<string> {
  const server = createServer({ name: "open", version: "1.0.0", tools: { hello: tool({ call: () => "Hello" }) } });
  const running = await listen(server, { port: 0 });
  onTestFinished(() => running.close());
  return running.url;
}

/** Starts a server on HTTP that refuses each request because it has no token, and returns its URL. */
async function closedServer(): Promise<string> {
  const server = createHttpServer(
    (_, response) => void response.writeHead(401, { "www-authenticate": "Bearer" }).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return `http://127.0.0.1:${address.port}/mcp`;
}

test("mcparley --version loads its launcher and its manifest only", async () => {
  const { code, output, files } = await runAndRecord(launcher, "--version");
  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/) as string });
  expect(files.toSorted()).toEqual(["packages/cli/bin/mcparley.cjs", "packages/cli/package.json"]);
});

test("mcparley list of a stdio server loads no authorization library, no code of servers and no configurations", async () => {
  const words = ["list", "--", process.execPath, "--input-type=module", "--eval", hello];
  const { code, output, files } = await runAndRecord(launcher, ...words);
  expect(output).toContain("Greets.");
  expect(code).toBe(0);
  expect(files).toContain("packages/cli/dist/main.js");
  expect(files.filter((file) => authLibraries.test(file) || serverCode.test(file))).toEqual([]);
  expect(files.filter((file) => configurationCode.test(file))).toEqual([]);
});

test("mcparley chat with a command after -- loads no configurations", async () => {
  const words = ["chat", "--", process.execPath, "--input-type=module", "--eval", hello];
  const { code, output, files } = await runAndRecord(launcher, ...words);
  expect(output).toContain("node is connected: 1 tool");
  expect(code).toBe(0);
  expect(files).toContain("packages/host/dist/index.js");
  expect(files.filter((file) => configurationCode.test(file))).toEqual([]);
});

test("mcparley servers loads the package that reads the configurations", async () => {
  const { code, files } = await runAndRecord(launcher, "servers");
  expect(code).toBe(0);
  expect(files.some((file) => configurationCode.test(file))).toBe(true);
});

test("a server on stdio loads seven files to answer initialize, all of them ASCII", async () => {
  const { code, output, files } = await runProgram(answerInitialize);
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('"protocolVersion"') as string });
  const names = files.map((file) => file.replace("packages/mcparley/dist/", "").replace(/-[\w-]{8}\.js$/, ""));
  expect(names.toSorted()).toEqual([
    "chunks/answering",
    "chunks/json-schema-reader",
    "chunks/legacy",
    "chunks/server",
    "chunks/shared",
    "server.js",
    "stdio.js",
  ]);
  const texts = files.map((file) => [file, readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")] as const);
  expect(texts.filter(([, text]) => /[^\0-\x7F]/.test(text)).map(([file]) => file)).toEqual([]);
});

test("mcparley list of an HTTP server that needs no authorization loads no authorization library", async () => {
  const { code, files } = await runAndRecord(launcher, "list", await openServer());
  expect(code).toBe(0);
  expect(files.filter((file) => authLibraries.test(file) || serverCode.test(file))).toEqual([]);
});

const useClient = (url: string): string => `
  import { oauth, pastedSignIn } from "mcparley/auth";
  import { connect } from "mcparley/client";
  const signIn = pastedSignIn({ show: () => {}, read: async () => "" });
  const client = await connect(${JSON.stringify(url)}, { auth: oauth({ signIn }) });
  await client.listTools();
  await client.close();
`;

test("a client with authorization loads its libraries with the first refusal, and not before", async () => {
  const open = await runProgram(useClient(await openServer()));
  expect(open).toMatchObject({ code: 0, output: "" });
  expect(open.files.filter((file) => authLibraries.test(file) || serverCode.test(file))).toEqual([]);
  const closed = await runProgram(useClient(await closedServer()));
  expect(closed.code).toBe(1);
  expect(closed.files.some((file) => authLibraries.test(file))).toBe(true);
});

const verify = (token: string): string => `
  import { bearer, introspectionVerifier, jwtVerifier, protectedResource, tokenExchange } from "mcparley/auth";
  const issuer = "https://auth.example.com";
  const audience = "https://example.com/mcp";
  const client = { id: "notes", secret: "a secret" };
  const verifier = jwtVerifier({ issuer, audience, jwks: { keys: [] } });
  protectedResource({ resource: audience, issuers: [issuer], verifier, dpop: { nonce: true } });
  introspectionVerifier({ issuer, audience, client });
  tokenExchange({ issuer, client, audience });
  const token = ${JSON.stringify(token)};
  if (token !== "" && (await verifier(token)) !== undefined) throw new Error("The token was accepted.");
`;

test("a server that verifies tokens loads the libraries with the first token, and not before", async () => {
  const idle = await runProgram(verify(""));
  expect(idle).toMatchObject({ code: 0, output: "" });
  expect(idle.files.filter((file) => authLibraries.test(file))).toEqual([]);
  const used = await runProgram(verify("opaque"));
  expect(used).toMatchObject({ code: 0, output: "" });
  expect(used.files.some((file) => authLibraries.test(file))).toBe(true);
});
