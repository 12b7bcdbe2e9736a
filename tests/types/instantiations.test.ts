import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const folder = fileURLToPath(new URL("./.generated/instantiations/", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const limit = 55_500;

beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The type instantiations that it takes to check a program, beyond those of the libraries that it imports. */
function instantiations(name: string, code: string): number {
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
  const output = execFileSync(process.execPath, [
    tsc,
    ...flags,
    "--extendedDiagnostics",
    "--ignoreConfig",
    file,
  ]).toString();
  return Number(/Instantiations:\s+(\d+)/.exec(output)?.[1]);
}

const imports = `import { connect } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { z } from "zod";
`;

/** A server with the given number of tools, each with an input, an output and a handler whose types are inferred, and a typed client. */
function program(tools: number): string {
  const names = Array.from({ length: tools }, (_, index) => `tool${index}`);
  const definitions = names.map(
    (name) => `const ${name} = tool({
  description: "Adds.",
  input: z.object({ a: z.number(), b: z.number().default(1), tags: z.array(z.string()).optional() }),
  output: z.object({ sum: z.number(), tags: z.array(z.string()) }),
  call: ({ a, b, tags }, ctx) => { ctx.progress(1); return { sum: a + b, tags: tags ?? [] }; },
});`,
  );
  const calls = names.map(
    (name) => `const { sum: ${name}Sum }: { sum: number } = await client.tools.${name}({ a: 1 });`,
  );
  return `${imports}${definitions.join("\n")}
const server = createServer({ name: "x", version: "1", tools: { ${names.join(", ")} } });
const client = await connect<typeof server>(server);
${calls.join("\n")}
export {};
`;
}

test(`checking 60 tools and calls to each takes at most ${limit} instantiations`, () => {
  const alone = instantiations("alone", `${imports}export const used = [connect, createServer, tool, z];\n`);
  const sixty = instantiations("sixty", program(60));
  expect(sixty).toBeGreaterThan(alone);
  expect(sixty).toBeLessThan(limit);
});
