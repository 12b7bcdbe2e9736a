import { describe, expect, test } from "vitest";
import { type Source, parseSource } from "../../scripts/house/syntax.mjs";
import {
  circleOfFiles,
  circleOfLayers,
  importsAgainstOrder,
  importsOfNode,
  layerOf,
  mayImport,
  repeatedCompositions,
  wordsOfMcp,
} from "./layers.ts";
import { sourceFiles } from "./source-files.ts";

const files: readonly Source[] = sourceFiles();
const among = (...layers: string[]): Source[] => files.filter(({ name }) => layers.includes(layerOf(name)));
const withFile = (name: string, text: string): Source[] => [...files, parseSource(name, text)];

test("every folder of the library belongs to a layer", () => {
  const folders = new Set(files.filter(({ name }) => name.includes("/")).map(({ name }) => layerOf(name)));
  expect([...folders].filter((folder) => !(folder in mayImport))).toEqual([]);
});

test("imports point in one direction", () => {
  expect(importsAgainstOrder(files)).toEqual([]);
});

test("each allowed exception to the order of imports occurs once", () => {
  expect(repeatedCompositions(files)).toEqual([]);
});

test("layers have no circular imports", () => {
  expect(circleOfLayers(files)).toEqual([]);
});

test("files have no circular imports at run time", () => {
  expect(circleOfFiles(files)).toEqual([]);
});

test("files of the OAuth client have no circular imports, types and import() included", () => {
  const isClient = ({ name }: Source): boolean => name.startsWith("auth/client/");
  const kinds = ["static", "type", "lazy"];
  expect(circleOfFiles(files.filter(isClient), kinds)).toEqual([]);
  const text = 'import type { OAuth } from "./oauth.ts"; export type O = OAuth;';
  const planted = withFile("auth/client/planted.ts", text).map((source) =>
    source.name === "auth/client/oauth.ts"
      ? parseSource(source.name, 'export const load = () => import("./planted.ts");')
      : source,
  );
  expect(circleOfFiles(planted.filter(isClient), kinds)).toHaveLength(3);
});

test("only layers for Node import modules of Node", () => {
  expect(importsOfNode(files)).toEqual([]);
});

test("the layers of JSON-RPC and JSON Schema contain no terms of MCP", () => {
  expect(wordsOfMcp(among("rpc", "schema"))).toEqual([]);
});

describe("detects a planted violation:", () => {
  test.each([
    ["an import()", 'export const load = () => import("../http/server/endpoint.ts");', "lazy"],
    ["an import", 'import { Endpoint } from "../http/server/endpoint.ts"; export const e = Endpoint;', "static"],
    ["an import type", 'import type { Endpoint } from "../http/server/endpoint.ts"; export type E = Endpoint;', "type"],
    ["the type of an import", 'export type E = import("../http/server/endpoint.ts").Endpoint;', "type"],
    ["an export", 'export { Endpoint } from "../http/server/endpoint.ts";', "static"],
  ])("%s against the order", (_, text, kind) => {
    const planted = withFile("server/planted.ts", text);
    expect(importsAgainstOrder(planted)).toEqual([`server/planted.ts imports http/server/endpoint.ts (${kind})`]);
    expect(circleOfLayers(planted)).toEqual(expect.arrayContaining(["server", "http"]));
  });

  const cluster = 'import { Endpoint } from "../http/server/endpoint.ts"; export const share = Endpoint;';
  const endpoint = (text: string, from = "http/server/cluster.ts"): Source[] => [
    parseSource("cluster/share.ts", cluster),
    parseSource(from, text),
  ];

  test("an import() of the cluster by a file that is not allowed to import it", () => {
    const load = 'export const load = () => import("../../cluster/share.ts");';
    expect(importsAgainstOrder(endpoint(load))).toEqual([]);
    expect(circleOfLayers(endpoint(load))).toEqual([]);
    const planted = endpoint(load, "http/server/planted.ts");
    expect(importsAgainstOrder(planted)).toEqual(["http/server/planted.ts imports cluster/share.ts (lazy)"]);
    expect(circleOfLayers(planted)).toEqual(["cluster", "http", "cluster"]);
  });

  test("a static import and a type import of the cluster, which allows only import()", () => {
    const wrong = endpoint('import "../../cluster/share.ts"; import type { share } from "../../cluster/share.ts";');
    expect(importsAgainstOrder(wrong)).toEqual([
      "http/server/cluster.ts imports cluster/share.ts (static)",
      "http/server/cluster.ts imports cluster/share.ts (type)",
    ]);
  });

  test("a second import() of the cluster", () => {
    const load = 'import("../../cluster/share.ts");';
    expect(repeatedCompositions(endpoint(load))).toEqual([]);
    expect(repeatedCompositions(endpoint(load + load))).toEqual(["http/server/cluster.ts loads cluster"]);
  });

  test("a circle of static imports, but no circle that an import() or a type closes", () => {
    const circle = (closing: string): string[] =>
      circleOfFiles([
        parseSource("a/one.ts", 'import { two } from "./two.ts"; export const one = two;'),
        parseSource("a/two.ts", `${closing} export const two = 2;`),
      ]);
    expect(circle('import { one } from "./one.ts"; one;')).toEqual(["a/one.ts", "a/two.ts", "a/one.ts"]);
    expect(circle('export const later = () => import("./one.ts");')).toEqual([]);
    expect(circle('import type { one } from "./one.ts"; export type One = typeof one;')).toEqual([]);
  });

  test("a term of MCP in an identifier, a string or a template, but not in a comment", () => {
    const text =
      "// Tools are called by tools/call.\nexport const listTools = `tools/${1}` + 'notifications/x' + 'tool';";
    const words = wordsOfMcp([parseSource("rpc/a.ts", text)]);
    expect(words).toEqual(["rpc/a.ts: listTools", "rpc/a.ts: tools/", "rpc/a.ts: notifications/x", "rpc/a.ts: tool"]);
  });

  test("a module of Node in a layer that runs everywhere", () => {
    expect(importsOfNode(withFile("rpc/a.ts", 'export const load = () => import("node:fs");'))).toEqual([
      "rpc/a.ts imports node:fs",
    ]);
  });
});
