// @ts-check
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Measures the time and memory to type-check a server of 10, 100 and 500 tools and one call of each, with this library and with
 * the official SDK. Prints the seconds of the check, the memory, and type instantiations beyond those of the imports.
 *
 * Run it with `node tests/types/cost.mjs`, after `npm run build`.
 */

const folder = fileURLToPath(new URL("./.generated/cost/", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const repeats = Number(process.argv[2] ?? 3);
const input = "z.object({ a: z.number(), b: z.number().default(1), tags: z.array(z.string()).optional() })";
const output = "z.object({ sum: z.number(), tags: z.array(z.string()) })";

const ownImports = `import { connect } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { z } from "zod";
export const used = [connect, createServer, tool, z];
`;

/** Returns the source of a server with these tools. @param {readonly string[]} names */
const ownServer = (names) => `${names
  .map(
    (name) => `const ${name} = tool({
  description: "Adds.",
  input: ${input},
  output: ${output},
  call: ({ a, b, tags }, ctx) => { ctx.progress(1); return { sum: a + b, tags: tags ?? [] }; },
});`,
  )
  .join("\n")}
const server = createServer({ name: "x", version: "1", tools: { ${names.join(", ")} } });`;

/** @typedef {{ imports: string; program: (names: readonly string[]) => string }} Library */

/** @type {Record<string, Library>} */
const libraries = {
  mcparley: {
    imports: ownImports,
    program: (names) => `${ownServer(names)}
const client = await connect<typeof server>(server);
${names.map((name) => `const { sum: ${name}Sum }: { sum: number } = await client.tools.${name}({ a: 1 });`).join("\n")}
`,
  },
  "mcparley, untyped client": {
    imports: ownImports,
    program: (names) => `${ownServer(names)}
const client = await connect("https://example.com/mcp");
${names.map((name) => `const { sum: ${name}Sum } = (await client.callTool("${name}", { a: 1 })) as { sum: number };`).join("\n")}
`,
  },
  "official SDK": {
    imports: `import { Client } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
export const used = [Client, McpServer, z];
`,
    program: (names) => `const server = new McpServer({ name: "x", version: "1" });
const client = new Client({ name: "x", version: "1" });
${names
  .map(
    (name) => `server.registerTool("${name}", {
  description: "Adds.",
  inputSchema: ${input},
  outputSchema: ${output},
}, ({ a, b, tags }) => {
  const structuredContent = { sum: a + b, tags: tags ?? [] };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
});`,
  )
  .join("\n")}
${names
  .map(
    (name) => `const ${name}Result = await client.callTool({ name: "${name}", arguments: { a: 1 } });
const { sum: ${name}Sum } = ${name}Result.structuredContent as { sum: number };`,
  )
  .join("\n")}
`,
  },
};

/** @param {string} name @param {string} code */
function check(name, code) {
  const file = path.join(folder, `${name}.ts`);
  writeFileSync(file, code);
  const flags = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "NodeNext",
    "--target",
    "ES2023",
    "--types",
    "node",
  ];
  const args = [tsc, ...flags, "--singleThreaded", "--extendedDiagnostics", "--ignoreConfig", file];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${name} does not compile.\n${stdout}`);
  const figure = (/** @type {string} */ label) => Number(new RegExp(`${label}:\\s+([\\d.]+)`).exec(stdout)?.[1]);
  return { seconds: figure("Check time"), memory: figure("Memory used"), instantiations: figure("Instantiations") };
}

/** @param {string} name @param {string} code */
function measure(name, code) {
  const runs = Array.from({ length: repeats }, () => check(name, code));
  const [first] = runs;
  return { ...first, seconds: Math.min(...runs.map(({ seconds }) => seconds)) };
}

mkdirSync(folder, { recursive: true });
try {
  process.stdout.write(`| library | tools | check time | memory | instantiations |\n| --- | --- | --- | --- | --- |\n`);
  for (const [name, { imports, program }] of Object.entries(libraries)) {
    const alone = measure("alone", imports);
    for (const count of [0, 10, 100, 500]) {
      const names = Array.from({ length: count }, (_, index) => `tool${index}`);
      const { seconds, memory, instantiations = 0 } = count ? measure(`of${count}`, imports + program(names)) : alone;
      const more = count ? instantiations - (alone.instantiations ?? 0) : instantiations;
      process.stdout.write(
        `| ${name} | ${count} | ${seconds} s | ${Math.round((memory ?? 0) / 1000)} MB | ${more} |\n`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
