// @ts-check
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";
import { licensesOf } from "./bundle/licenses.mjs";
import { copies, escapeOthers, inlineRuntime, texts } from "./bundle/plugins.mjs";
import { declaredEntries, excludeUnreachable } from "./declarations.mjs";
import { root } from "./ready.mjs";

/**
 * Bundles the published JavaScript: each entry point with its imports, in a few files, because a start with many small files is slow. The declarations beside it come from the compiler.
 *
 * Modules that are loaded `together` are one file. It contains the static imports of each module, unless an earlier file contains them. The bundler divides the rest.
 *
 * An entry has its own copy of the modules that are `copied` for it. They must not have state or classes that are compared.
 *
 * Dependencies are not part of it, except the private `packages/internal` and the `inlined` modules: each is one file with the parts of dependencies that it exports.
 *
 * @typedef {{ neededBy: readonly string[]; with?: readonly string[] }} Together
 */
const packages = [
  {
    folder: "packages/mcparley",
    entries: [
      "index.ts",
      "apps.ts",
      "client.ts",
      "http.ts",
      "node.ts",
      "otel.ts",
      "server.ts",
      "skills.ts",
      "stdio.ts",
      "tasks.ts",
      "testing.ts",
      // After the others: the order of the entries is that of the modules in a chunk, and the compressed size of the client depends on it.
      "auth.ts",
      // Chosen by the "imports" of package.json, so that browsers do not get the one that spawns processes.
      "stdio/command-transport.ts",
      "client/connect/no-command-transport.ts",
      // The same: on Node, requests over node:http; elsewhere, the fetch of the platform.
      "node/default-send.ts",
      "http/client/default-send.ts",
      // The same: on Node, a fetch that checks addresses, and a sign-in that listens for the redirect; elsewhere, neither.
      "node/guarded-send.ts",
      "node/sign-in/loopback-sign-in.ts",
      "auth/client/web.ts",
    ],
    together: {
      // A server on stdio needs only these modules of the client: input requests and the redaction of secrets.
      shared: {
        neededBy: ["server.ts", "client.ts"],
        with: [
          "mcp/content.ts",
          "mcp/custom-notifications.ts",
          "mcp/logging.ts",
          "mcp/observe.ts",
          // Also imported by `index.ts`, which must not load the server.
          "mcp/other-imports.ts",
          "mcp/progress.ts",
          "mcp/read-message.ts",
          "mcp/checks/reserved-ids.ts",
          "mcp/checks/safe-url.ts",
          "net/loopback.ts",
          "rpc/abort.ts",
          // For the notifications that MCP does not define, of servers and clients.
          "rpc/bounded-queue.ts",
          // Used on pipes, and by the HTTP client of Node.
          "rpc/collected-bytes.ts",
          // For tokens, sealed state and several processes.
          "rpc/digest.ts",
          "rpc/encode-large.ts",
          "rpc/guarded.ts",
          "rpc/json-values.ts",
          // Used on pipes, and by the reader of event streams, which browsers load.
          "rpc/parse-json.ts",
          "rpc/pending-requests.ts",
          // Also imported by `index.ts`, as above.
          "rpc/printable.ts",
          "rpc/redact.ts",
          "schema/budget.ts",
          "schema/schema.ts",
          "schema/standard-schema.ts",
          // Also imported by `auth.ts`, which must not load the server either.
          "store/server-store.ts",
        ],
      },
      // Checks definitions and their schemas. `npm run check -- size` reports it apart from the rest of a start.
      "json-schema-reader": {
        neededBy: ["schema/json-schema/document.ts"],
        with: [
          "schema/json-schema/document.ts",
          "server/checks/check-definition.ts",
          "server/core/other-libraries.ts",
          "mcp/checks/check-metadata.ts",
        ],
      },
      server: { neededBy: ["server.ts"] },
      // Loaded by endpoints, and by a client for a tool with mirrored arguments. It needs the reader of schemas.
      "mirrored-headers": {
        neededBy: ["mcp/headers/mirrored-headers.ts"],
        with: ["mcp/headers/mirrored-headers.ts"],
      },
      // Loaded with the first input request, by servers and by clients.
      forms: { neededBy: ["mcp/form-schema.ts"], with: ["mcp/form-schema.ts", "mcp/elicitation.ts"] },
      headers: { neededBy: ["http/server/endpoint.ts", "client.ts"] },
      client: { neededBy: ["client.ts"] },
      // The next chunks are loaded with the first message, of any revision or of a legacy one, and with an endpoint.
      answering: { neededBy: ["server/protocol/connection.ts"] },
      legacy: { neededBy: ["server/protocol/legacy.ts"] },
      // Also imported by `auth.ts`, which clients load as well.
      refusal: { neededBy: ["http/server/refusal.ts"], with: ["http/server/refusal.ts"] },
      endpoint: { neededBy: ["http/server/endpoint.ts"], with: ["http/server/health.ts"] },
      // Loaded by a client after a failed request, and by the OAuth flow.
      explanations: { neededBy: ["http/client/explanations.ts"] },
      // The functions that clients call for authorization, and the OAuth flow, which they load with its libraries later.
      "client-auth": { neededBy: ["auth/client/machine-grants.ts"], with: ["auth/well-known-urls.ts"] },
      // The requests to authorization servers, of clients and servers.
      "auth-requests": { neededBy: ["auth/server/checks/token-checks.ts", "auth/client/flow.ts"] },
      "client-auth-flow": { neededBy: ["auth/client/flow.ts"] },
      // The checks of tokens are loaded later. Without this they would import from the exports of the entry.
      "auth-server": { neededBy: ["auth.ts"] },
      "token-checks": { neededBy: ["auth/server/checks/token-checks.ts"] },
      tasks: { neededBy: ["tasks.ts"] },
    },
    copied: {
      // Needed by `stdio.ts` as well. A chunk for both would be one more file of each start of a server on stdio.
      "stdio/command-transport.ts": ["stdio/line-writer.ts", "stdio/lines.ts"],
      // Needed by `server.ts` as well, in its chunk.
      "auth/server/checks/proof-checks.ts": ["store/memory-store.ts"],
      "store/memory-store.ts?copy": ["store/tables.ts"],
    },
    inlined: ["node/http-client/undici.ts", "schema/json-schema/re2js.ts"],
  },
  { folder: "packages/redis", entries: ["index.ts"], together: {}, copied: {} },
  { folder: "packages/config", entries: ["index.ts"], together: {}, copied: {} },
  { folder: "packages/host", entries: ["index.ts"], together: {}, copied: {} },
  {
    folder: "packages/cli",
    entries: ["main.ts"],
    together: {},
    copied: {},
    inlined: ["chat/model/openai-compatible.ts"],
  },
];

/** Modules that are not used, with the code that replaces them. */
const unused = [
  // Modules of undici for `fetch`, HTTP/2 and SOCKS. They are a fifth of its code.
  {
    modules:
      /[\\/]undici[\\/]lib[\\/](?:dispatcher[\\/]client-h2|web[\\/]fetch[\\/][\w-]+|web[\\/]webidl[\\/]index|core[\\/]socks5-client)\.js$/,
    code: "module.exports = {};",
  },
  // Version 3 of zod, which the AI SDK imports for the schemas of its callers. Its own schemas are of version 4.
  { modules: /[\\/]zod[\\/]v3[\\/]index\.js$/, code: "export const ZodFirstPartyTypeKind = {};" },
];

for (const { folder, entries, together, copied, inlined = [] } of packages) {
  const source = path.join(root, folder, "src");
  const outdir = path.join(root, folder, "dist");
  rmSync(path.join(outdir, "chunks"), { recursive: true, force: true });
  /** @type {Imports} */
  const imports = new Map();
  const inputs = entries.map((entry) => /** @type {const} */ ([entry.replace(/\.ts$/, ""), path.join(source, entry)]));
  const bundle = await rolldown({
    input: Object.fromEntries(inputs),
    external: (id) => !/^[.\0]/.test(id) && !path.isAbsolute(id) && !id.startsWith("@mcparley/internal/"),
    platform: "neutral",
    // Otherwise the code of each module begins with a comment with its path.
    experimental: { attachDebugInfo: "none" },
    preserveEntrySignatures: "allow-extension",
    plugins: [
      copies(source, copied),
      texts(),
      { name: "imports", moduleParsed: (module) => void imports.set(module.id, module) },
      { name: "runtime", generateBundle: (_, files) => inlineRuntime(files) },
      { name: "ascii", generateBundle: (_, files) => escapeOthers(files) },
    ],
  });
  /** @type {Map<string, string> | undefined} */
  let names;
  await bundle.write({
    dir: outdir,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // Maps are read by `npm run check -- size` and are not published. A comment in the code that names a missing map makes bundlers warn.
    sourcemap: "hidden",
    // They are in the declarations and in the source maps, and would be nearly a fifth of the code that a start reads.
    comments: { jsdoc: false },
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          debugName: "together",
          name: (id) => (names ??= nameModules(source, { inputs, together, imports })).get(id) ?? null,
        },
      ],
    },
  });
  await bundle.close();
  for (const module of inlined) await inlineDependency(path.join(source, module), path.join(outdir, module));
  excludeUnreachable(outdir, declaredEntries(path.join(root, folder)));
}

/**
 * Bundles a module with its dependencies, and puts the licenses of the dependencies beside it.
 *
 * @param {string} input
 * @param {string} output
 */
async function inlineDependency(input, output) {
  const withoutUnused = {
    name: "without-unused",
    load: (/** @type {string} */ id) => unused.find(({ modules }) => modules.test(id))?.code ?? null,
  };
  const bundle = await rolldown({ input, platform: "node", plugins: [withoutUnused] });
  const file = output.replace(/\.ts$/, ".js");
  const { output: chunks } = await bundle.write({ file, format: "esm", minify: true, codeSplitting: false });
  await bundle.close();
  writeFileSync(`${file}.LICENSE.txt`, licensesOf(chunks[0].moduleIds));
}

/**
 * Returns the chunk of each module that is loaded together with others.
 *
 * @param {string} source
 * @param {{
 *   inputs: readonly (readonly [string, string])[];
 *   together: Record<string, Together>;
 *   imports: Imports;
 * }} graph
 */
function nameModules(source, { inputs, together, imports }) {
  const entries = new Set(inputs.map(([, file]) => file));
  /** @type {Map<string, string>} */
  const names = new Map();
  for (const [name, { neededBy, with: also = [] }] of Object.entries(together)) {
    for (const module of also) names.set(path.join(source, module), name);
    const needs = neededBy.map((module) => needsOf(path.join(source, module), imports));
    for (const id of needs[0] ?? []) {
      const isMeant = !entries.has(id) && id.startsWith(source) && needs.every((needed) => needed.has(id));
      if (isMeant && !names.has(id)) names.set(id, name);
    }
  }
  return names;
}

/**
 * Returns a module and its static imports, recursively.
 *
 * @typedef {Map<string, { importedIds: readonly string[] }>} Imports
 * @param {string} id
 * @param {Imports} imports
 */
function needsOf(id, imports) {
  const found = new Set([id]);
  // The set grows while it is walked.
  for (const module of found) for (const imported of imports.get(module)?.importedIds ?? []) found.add(imported);
  return found;
}
