import { circlesOf } from "../../scripts/house/circles.mjs";
import { type Import, type Source, walk } from "../../scripts/house/syntax.mjs";

/**
 * The layers that each layer may import in addition to itself. An `import()` and an `import type` count as well. A layer is a
 * folder of one or two levels. An allowed folder includes its subfolders.
 */
export type Layers = Readonly<Record<string, readonly string[]>>;

/** The layers of the library, but not of its client. */
const layersAroundClient: Layers = {
  rpc: [],
  schema: ["rpc"],
  "schema/json-schema": ["rpc", "schema"],
  "schema/validation": ["rpc", "schema"],
  net: ["rpc"],
  mcp: ["rpc", "schema"],
  "mcp/checks": ["rpc", "schema", "net", "mcp"],
  "mcp/headers": ["rpc", "schema"],
  "mcp/revisions": ["rpc", "mcp"],
  store: ["rpc"],
  "server/core": ["rpc", "schema", "net", "mcp", "store"],
  "server/checks": ["rpc", "mcp", "server/core"],
  "server/observe": ["rpc", "schema", "mcp", "store", "server/core", "server/checks", "server/dispatch"],
  "server/input": ["rpc", "schema", "mcp", "store", "server/core", "server/checks"],
  "server/features": ["rpc", "schema", "mcp", "server/core", "server/checks"],
  "server/dispatch": ["rpc", "schema", "mcp", "server/core", "server/input", "server/features"],
  "server/protocol": ["rpc", "mcp", "server/core", "server/observe", "server/input", "server/dispatch"],
  server: ["rpc", "schema", "mcp", "server"],
  http: ["rpc", "server/core"],
  "http/server": ["rpc", "net", "mcp", "store", "server", "http"],
  "http/fetch": ["rpc", "server", "http", "http/server"],
  "http/client": ["rpc", "mcp", "client", "http"],
  cluster: ["rpc", "mcp", "store", "server", "http"],
  stdio: ["rpc", "mcp", "server", "client"],
  auth: ["rpc"],
  "auth/client": ["rpc", "net", "mcp", "auth", "http"],
  "auth/server": ["rpc", "net", "store", "server/core", "auth", "http"],
  "node/http-client": ["rpc", "net", "client", "http/client"],
  "node/sign-in": ["rpc", "net", "auth/client"],
  "node/workers": ["rpc", "store"],
  node: ["rpc", "net", "store", "server", "http", "auth/client", "node/http-client"],
  "node/credentials": ["rpc", "store", "auth/client", "node"],
  "extensions/apps": ["rpc", "server", "client"],
  "extensions/skills": ["rpc", "schema", "mcp", "server", "client"],
  "extensions/tasks": ["rpc", "mcp", "store", "server", "client"],
  otel: ["rpc", "mcp", "server/core", "client"],
  testing: ["rpc", "mcp", "client"],
};

/** The layers of the client. */
const clientLayers: Layers = {
  client: ["rpc", "schema", "net", "mcp"],
};

const mayImport: Layers = { ...layersAroundClient, ...clientLayers };

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
    from: "http/server/use-cluster.ts",
    to: "cluster",
    reason: "The endpoint loads the implementation of its interface for several processes if the server has a store.",
  },
];

const mayUseNode = new Set(["node", "stdio", "testing"]);

/** The composition roots, which users of a package import. They may import everything, and nothing imports them. */
const isRoot = (name: string): boolean => !name.includes("/");

/** Returns the layer of a file: the innermost of its folders that is a layer. Undefined if none is. */
export function layerOf(name: string, layers: Layers = mayImport): string | undefined {
  const [first = "", second = ""] = name.split("/");
  return [`${first}/${second}`, first].find((folder) => folder in layers);
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

/** The files that belong to no layer. */
export function filesWithoutLayer(sources: readonly Source[], layers: Layers = mayImport): string[] {
  const isUnknown = (name: string): boolean => !isRoot(name) && layerOf(name, layers) === undefined;
  return sources.map(({ name }) => name).filter(isUnknown);
}

/** The allowed imports against the order that occur in more than one place. */
export function repeatedCompositions(sources: readonly Source[]): string[] {
  const places = edgesOf(sources)
    .filter((edge) => layerOf(edge.from) !== layerOf(edge.to) && isComposition(edge))
    .map(({ from, to }) => `${from} loads ${layerOf(to)}`);
  return [...new Set(places.filter((place, index) => places.indexOf(place) !== index))];
}

/** The imports that point against the order of the layers. */
export function importsAgainstOrder(sources: readonly Source[], layers: Layers = mayImport): string[] {
  const isAllowed = ({ from, to }: Edge): boolean => {
    const [layer = "", target = ""] = [layerOf(from, layers), layerOf(to, layers)];
    const allowed = layers[layer] ?? [];
    return layer === target || allowed.some((folder) => target === folder || target.startsWith(`${folder}/`));
  };
  return edgesOf(sources)
    .filter((edge) => !isAllowed(edge) && !isComposition(edge))
    .map(({ from, to, kind }) => `${from} imports ${to} (${kind})`);
}

/** The circles of layers, with every import counted but those that are allowed against the order. */
export function circlesOfLayers(sources: readonly Source[], layers: Layers = mayImport): string[][] {
  const graph = new Map(Object.keys(layers).map((layer) => [layer, [] as string[]]));
  for (const edge of edgesOf(sources)) {
    const [from = "", to = ""] = [layerOf(edge.from, layers), layerOf(edge.to, layers)];
    if (from !== to && !isComposition(edge)) graph.get(from)?.push(to);
  }
  return circlesOf(graph);
}

/** The pairs of folders in a folder that import each other, every import counted. */
export function mutualImports(sources: readonly Source[], folder: string): string[] {
  const folderOf = (name: string): string | undefined =>
    name.startsWith(`${folder}/`) ? /^([^/]+)\//.exec(name.slice(folder.length + 1))?.[1] : undefined;
  const imports = new Set(edgesOf(sources).map(({ from, to }) => `${folderOf(from)} ${folderOf(to)}`));
  return [...imports].filter((pair) => {
    const [from = "", to = ""] = pair.split(" ");
    return from < to && !pair.includes("undefined") && imports.has(`${to} ${from}`);
  });
}

/** The imports of modules of Node in layers that run everywhere. */
export function importsOfNode(sources: readonly Source[]): string[] {
  return sources
    .filter(({ name }) => !mayUseNode.has(name.split("/")[0] ?? ""))
    .flatMap(({ name, imports }) =>
      imports.filter(({ from }) => from.startsWith("node:")).map(({ from }) => `${name} imports ${from}`),
    );
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
