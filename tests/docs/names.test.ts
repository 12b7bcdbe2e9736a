import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { loadAll } from "js-yaml";
import { parseFolder } from "../../scripts/house/syntax.mjs";
import { documents } from "./extract-samples.ts";

/*
 * The names of our API in the text of the guides exist in the sources, and blocks of JSON and YAML can be parsed.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Names of other projects that the guides mention, with the project. */
const foreign: Readonly<Record<string, string>> = {
  readinessProbe: "Kubernetes",
  livenessProbe: "Kubernetes",
  preStop: "Kubernetes",
  terminationGracePeriodSeconds: "Kubernetes",
  apiKey: "an example of a field",
  requireBearerAuth: "the official SDK",
  createSecureServer: "node:http2",
  onSend: "Fastify",
  maxDuration: "Next.js",
  maxRequestBodySize: "Bun",
  createMcpExpressApp: "the official SDK",
  createSentinel: "the package redis",
  streamText: "the package ai",
  includeTools: "Gemini CLI",
  excludeTools: "Gemini CLI",
  autoApprove: "Cursor",
  LanguageModelV3: "@ai-sdk/provider",
  LanguageModelV4: "@ai-sdk/provider",
  toStandardJsonSchema: "@valibot/to-json-schema",
  rewriteRelativeImportExtensions: "TypeScript",
};

/** A node of the syntax tree. */
type Syntax = Record<string, any>;

/** The names that the sources declare: of declarations, members and parameters, and texts such as codes of errors. */
function declaredNames(): Set<string> {
  const names = new Set<string>();
  const visit = (node: Syntax | readonly Syntax[] | undefined): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (!node || typeof node !== "object" || Array.isArray(node)) return;
    const { type, name, value } = node as Syntax;
    if (type === "Identifier") names.add(name);
    if (type === "Literal" && typeof value === "string") names.add(value);
    for (const child of Object.values(node)) if (child && typeof child === "object") visit(child);
  };
  for (const folder of ["mcparley", "redis", "config", "cli", "host"]) {
    for (const { program } of parseFolder(path.join(root, "packages", folder, "src"))) visit(program);
  }
  return names;
}

/** The code in the prose of a page that looks like names of an API: each call, and a word with an inner capital. */
function namesIn(prose: string): string[] {
  const codes = [...prose.matchAll(/(`+)([^`\n]+)\1/g)].map(([, , code = ""]) => code);
  return codes.flatMap((code) => {
    const called = [...code.matchAll(/\b([a-zA-Z_]\w*)\(/g)].map(([, name = ""]) => name);
    const [, name = ""] = /^(?:await |new )?([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)(?:\(|$)/.exec(code) ?? [];
    const [first = "", ...rest] = name.split(".");
    return [...called, ...[first, rest.at(-1) ?? first].filter((part) => /[a-z][A-Z]/.test(part))];
  });
}

function read(page: string): { prose: string; blocks: string } {
  const text = readFileSync(path.join(root, page), "utf8");
  const blocks = text.match(/^```[\s\S]*?^```$/gm) ?? [];
  return { prose: text.replaceAll(/^```[\s\S]*?^```$/gm, ""), blocks: blocks.join("\n") };
}

/** In pages about migration only the last column of a table has our names. */
function ownPart(page: string, prose: string): string {
  if (!page.includes("migrate/")) return prose;
  const rows = prose.split("\n").filter((line) => line.startsWith("|"));
  expect(rows.length).toBeGreaterThan(20);
  return rows.map((row) => row.split(/(?<!\\)\|/).at(-2) ?? "").join("\n");
}

const names = declaredNames();

test("the sources declare the names of the API", () => {
  expect(["createServer", "callTool", "allowedHosts", "elicit"].filter((name) => !names.has(name))).toEqual([]);
  expect(names.has("createServers")).toBe(false);
});

test.each(documents())("the names in %s exist", (page) => {
  const { prose, blocks } = read(page);
  const own = namesIn(ownPart(page, prose)).filter((name) => !(name in foreign));
  // A sample of the page, which is compiled, can declare a name that its text explains.
  const unknown = own.filter((name) => !names.has(name) && !new RegExp(String.raw`\b${name}\b`).test(blocks));
  expect([...new Set(unknown)]).toEqual([]);
});

test("the guides name many functions and options", () => {
  const guides = documents().filter((page) => !page.includes("migrate/"));
  expect(new Set(guides.flatMap((page) => namesIn(read(page).prose))).size).toBeGreaterThan(200);
});

test("each name of another project is still mentioned", () => {
  const mentioned = new Set(documents().flatMap((page) => namesIn(read(page).prose)));
  expect(Object.keys(foreign).filter((name) => !mentioned.has(name))).toEqual([]);
});

interface Block {
  label: string;
  language: string;
  code: string;
}

const data: Block[] = documents().flatMap((page) => {
  const text = readFileSync(path.join(root, page), "utf8");
  const found = [...text.matchAll(/^( *)```(json|ya?ml)(?: [^\n]*)?\n([\s\S]*?)^\1```$/gm)];
  return found.map(([, , language = "", code = ""], index) => {
    // A first line such as "// tsconfig.json" names the file.
    const content = code.replace(/^\/\/ .*\n/, "");
    return { label: `${page}, block ${index + 1}`, language, code: content };
  });
});

test("the guides have blocks of JSON and YAML", () => {
  expect(new Set(data.map(({ language }) => language.slice(0, 1)))).toEqual(new Set(["j", "y"]));
});

test.each(data)("$label is valid $language", ({ language, code }) => {
  expect(() => (language === "json" ? [JSON.parse(code)] : loadAll(code))).not.toThrow();
});
