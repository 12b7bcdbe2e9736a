import { expect, test } from "vitest";
import { importsOf, sourceFiles } from "./source-files.ts";

/** The folders that each folder may import, besides itself. */
const mayImport: Record<string, readonly string[]> = {
  rpc: [],
  schema: [],
  mcp: ["rpc", "schema"],
  store: ["rpc"],
  server: ["rpc", "mcp", "schema", "store"],
  client: ["rpc", "mcp", "schema", "store"],
  http: ["rpc", "mcp", "schema", "store", "server", "client"],
  cluster: ["rpc", "mcp", "store", "server", "http"],
  stdio: ["rpc", "mcp", "schema", "server", "client"],
  auth: ["rpc", "mcp", "schema", "store", "server", "client", "http"],
  node: ["rpc", "mcp", "schema", "store", "server", "client", "http", "stdio", "auth"],
  extensions: ["rpc", "mcp", "store", "server", "client"],
  otel: ["rpc", "mcp", "server", "client"],
  testing: ["rpc", "mcp", "server", "client"],
};

/** Where a layer loads the implementation of an interface that it declares. */
const compositionEdges = new Set(["http/server/cluster.ts imports cluster/index.ts"]);

/** The composition roots: what a package's user imports. They may import everything, and nothing imports them. */
const isRoot = (name: string): boolean => !name.includes("/");
const mayUseNode = new Set(["node", "stdio", "testing"]);

const folderOf = (name: string): string => name.split("/")[0] ?? "";
const files = sourceFiles();

test("every folder of the library has its place in the layers", () => {
  const folders = new Set(files.filter(({ name }) => !isRoot(name)).map(({ name }) => folderOf(name)));
  expect([...folders].filter((folder) => !(folder in mayImport))).toEqual([]);
});

test("imports point one way", () => {
  const wrong: string[] = [];
  for (const file of files) {
    const folder = folderOf(file.name);
    if (isRoot(file.name)) continue;
    for (const imported of importsOf(file).filter((specifier) => specifier.endsWith(".ts"))) {
      const target = folderOf(imported);
      if (target !== folder && !mayImport[folder]?.includes(target)) wrong.push(`${file.name} imports ${imported}`);
    }
  }
  expect(wrong.filter((edge) => !compositionEdges.has(edge))).toEqual([]);
});

test("only what runs on Node alone imports its modules", () => {
  const wrong = files
    .filter(({ name }) => !mayUseNode.has(folderOf(name)))
    .flatMap((file) =>
      importsOf(file)
        .filter((specifier) => specifier.startsWith("node:"))
        .map((specifier) => `${file.name} imports ${specifier}`),
    );
  expect(wrong).toEqual([]);
});

test("no two files import each other in a circle at run time", () => {
  const graph = new Map(files.map((file) => [file.name, runtimeImports(file.code, file.name)]));
  expect(findCircle(graph)).toEqual([]);
});

function runtimeImports(code: string, name: string): string[] {
  const statements = code.matchAll(/(?:^|\n)\s*(?:import|export)\s+(?!type\b)([^;]*?)from\s*"(\.[^"]+)"/g);
  const valued = [...statements].filter(([, clause = ""]) => hasValue(clause));
  return valued.map(([, , specifier = ""]) => new URL(specifier, `file:///${name}`).pathname.slice(1));
}

/** Whether an import clause names anything that is there at run time. */
function hasValue(clause: string): boolean {
  const names = /\{([^}]*)\}/.exec(clause)?.[1];
  if (names === undefined) return true;
  return names.split(",").some((entry) => entry.trim() !== "" && !entry.trim().startsWith("type "));
}

function findCircle(graph: Map<string, string[]>): string[] {
  const done = new Set<string>();
  const visit = (name: string, trail: string[]): string[] => {
    if (trail.includes(name)) return [...trail.slice(trail.indexOf(name)), name];
    if (done.has(name)) return [];
    for (const next of graph.get(name) ?? []) {
      const circle = visit(next, [...trail, name]);
      if (circle.length > 0) return circle;
    }
    done.add(name);
    return [];
  };
  for (const name of graph.keys()) {
    const circle = visit(name, []);
    if (circle.length > 0) return circle;
  }
  return [];
}
