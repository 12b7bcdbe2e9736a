import { type Import, type Source, walk } from "../../scripts/house/syntax.mjs";

/** The layers that each layer may import in addition to itself. An `import()` and an `import type` count as well. */
export type Layers = Readonly<Record<string, readonly string[]>>;

/** The layers of the library. */
export const mayImport: Layers = {
  rpc: [],
  schema: ["rpc"],
  net: ["rpc"],
  mcp: ["rpc", "schema", "net"],
  store: ["rpc"],
  server: ["rpc", "mcp", "schema", "net", "store"],
  client: ["rpc", "mcp", "schema", "net", "store"],
  http: ["rpc", "mcp", "schema", "net", "store", "server", "client"],
  cluster: ["rpc", "mcp", "store", "server", "http"],
  stdio: ["rpc", "mcp", "schema", "server", "client"],
  auth: ["rpc", "mcp", "schema", "net", "store", "server", "client", "http"],
  node: ["rpc", "mcp", "schema", "net", "store", "server", "client", "http", "stdio", "auth"],
  extensions: ["rpc", "mcp", "store", "server", "client"],
  otel: ["rpc", "mcp", "server", "client"],
  testing: ["rpc", "mcp", "server", "client"],
};

/** An `import()` against the order of the layers. */
interface CompositionEdge {
  /** The file that loads. */
  from: string;
  /** The layer that it loads from. */
  to: string;
  reason: string;
}

/**
 * The only imports against the order: a composition root that loads the implementation of an interface that its own
 * layer declares. Each is an `import()`, and occurs once.
 */
const compositionEdges: readonly CompositionEdge[] = [
  {
    from: "http/server/cluster.ts",
    to: "cluster",
    reason: "The endpoint loads the implementation of its interface for several processes if the server has a store.",
  },
];

const mayUseNode = new Set(["node", "stdio", "testing"]);

/** The composition roots, which users of a package import. They may import everything, and nothing imports them. */
const isRoot = (name: string): boolean => !name.includes("/");

/** The layer that a file belongs to: its first folder. */
export function layerOf(name: string): string {
  return name.split("/")[0] ?? "";
}

interface Edge extends Pick<Import, "kind"> {
  from: string;
  to: string;
}

/** All imports of one file by another, without those of the composition roots. */
function edgesOf(sources: readonly Source[]): Edge[] {
  return sources
    .filter(({ name }) => !isRoot(name))
    .flatMap(({ name, imports }) =>
      imports.filter(({ from }) => from.endsWith(".ts")).map(({ from, kind }) => ({ from: name, to: from, kind })),
    );
}

const isComposition = ({ from, to, kind }: Edge): boolean =>
  kind === "lazy" && compositionEdges.some((edge) => edge.from === from && edge.to === layerOf(to));

/** The allowed imports against the order that occur in more than one place. */
export function repeatedCompositions(sources: readonly Source[]): string[] {
  const places = edgesOf(sources)
    .filter((edge) => layerOf(edge.from) !== layerOf(edge.to) && isComposition(edge))
    .map(({ from, to }) => `${from} loads ${layerOf(to)}`);
  return [...new Set(places.filter((place, index) => places.indexOf(place) !== index))];
}

/** The imports that point against the order of the layers. */
export function importsAgainstOrder(sources: readonly Source[], layers: Layers = mayImport): string[] {
  return edgesOf(sources)
    .filter(({ from, to }) => layerOf(from) !== layerOf(to) && !layers[layerOf(from)]?.includes(layerOf(to)))
    .filter((edge) => !isComposition(edge))
    .map(({ from, to, kind }) => `${from} imports ${to} (${kind})`);
}

/** The first circle of layers, with every import counted but those that are allowed against the order. */
export function circleOfLayers(sources: readonly Source[]): string[] {
  const graph = new Map<string, string[]>();
  for (const edge of edgesOf(sources)) {
    const [from, to] = [layerOf(edge.from), layerOf(edge.to)];
    if (from !== to && !isComposition(edge)) graph.set(from, [...(graph.get(from) ?? []), to]);
  }
  return findCircle(graph);
}

/** The first circle of files that import each other when they are loaded, or by the given kinds of imports. */
export function circleOfFiles(sources: readonly Source[], kinds: readonly string[] = ["static"]): string[] {
  return findCircle(
    new Map(
      sources.map(({ name, imports }) => [
        name,
        imports.filter(({ kind }) => kinds.includes(kind)).map(({ from }) => from),
      ]),
    ),
  );
}

/** The imports of modules of Node in layers that run everywhere. */
export function importsOfNode(sources: readonly Source[]): string[] {
  return sources
    .filter(({ name }) => !mayUseNode.has(layerOf(name)))
    .flatMap(({ name, imports }) =>
      imports.filter(({ from }) => from.startsWith("node:")).map(({ from }) => `${name} imports ${from}`),
    );
}

function findCircle(graph: ReadonlyMap<string, readonly string[]>): string[] {
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

/** Words of MCP that JSON-RPC and JSON Schema have no use for, in identifiers and in strings. */
const mcpWords = [
  /mcp|model ?context/i,
  /\b(completion|elicitation|logging|notifications|prompts|resources|roots|sampling|server|skills|subscriptions|tasks|tools)\//,
  /initiali[sz]ed?\b|^initialize/i,
  /(^|[a-z_])(Tool|Prompt|Elicit|Sampling|Roots|ClientCapabilit|ServerCapabilit)/,
  /^(tool|prompt|elicit|sampling|clientCapabilit|serverCapabilit)/,
  /ResourceNotFound/,
  /20\d\d-\d\d-\d\d/,
];

/** The identifiers and strings of files that contain a word of MCP, as `file: word`, each once. */
export function wordsOfMcp(sources: readonly Source[]): string[] {
  const found = new Set<string>();
  for (const { name, program } of sources) {
    walk(program, (node) => {
      const text = textOf(node);
      if (text !== undefined && mcpWords.some((word) => word.test(text))) found.add(`${name}: ${text}`);
    });
  }
  return [...found];
}

function textOf(node: { type: string; name?: unknown; value?: unknown }): string | undefined {
  const { type, name, value } = node;
  if ((type === "Identifier" || type === "PrivateIdentifier") && typeof name === "string") return name;
  if (type === "Literal" && typeof value === "string") return value;
  if (type === "TemplateElement") return (value as { raw: string }).raw;
  return undefined;
}
