import path from "node:path";
import { describe, expect, test } from "vitest";
import { circlesOfFiles } from "../../scripts/house/circles.mjs";
import { type Import, type Source, parseFolder, parseSource } from "../../scripts/house/syntax.mjs";
import {
  circlesOfLayers,
  filesWithoutLayer,
  importsAgainstOrder,
  importsOfNode,
  layerOf,
  mutualImports,
  repeatedCompositions,
  wordsOfMcp,
} from "./layers.ts";
import { root, sourceFiles } from "./source-files.ts";

const files: readonly Source[] = sourceFiles();
const among = (...layers: string[]): Source[] => files.filter(({ name }) => layers.includes(name.split("/")[0] ?? ""));
const withFile = (name: string, text: string): Source[] => [...files, parseSource(name, text)];

test("every folder of the library belongs to a layer", () => {
  expect(filesWithoutLayer(files)).toEqual([]);
});

test("imports point in one direction", () => {
  expect(importsAgainstOrder(files)).toEqual([]);
});

test("each allowed exception to the order of imports occurs once", () => {
  expect(repeatedCompositions(files)).toEqual([]);
});

test("layers have no circular imports", () => {
  expect(circlesOfLayers(files)).toEqual([]);
});

test("of the folders of the client, only that of legacy revisions and its users import each other", () => {
  expect(mutualImports(files, "client").toSorted()).toEqual(["calls legacy", "connect legacy"]);
});

test("files have no circular imports at run time", () => {
  expect(circlesOfFiles(files, ["static"])).toEqual([]);
});

test("files of the OAuth client have no circular imports, types and import() included", () => {
  const isClient = ({ name }: Source): boolean => name.startsWith("auth/client/");
  expect(circlesOfFiles(files.filter(isClient))).toEqual([]);
});

test.each(["cli", "config", "host", "internal", "mcparley", "redis"])(
  "no circle of %s has more than five files, types and import() included",
  (name) => {
    const sources = parseFolder(path.join(root, "packages", name, "src"));
    const circles = circlesOfFiles(sources);
    expect(circles.filter((circle) => circle.length > 5)).toEqual([]);
  },
);

test("only layers for Node import modules of Node", () => {
  expect(importsOfNode(files)).toEqual([]);
});

test("the layers of JSON-RPC and JSON Schema contain no terms of MCP", () => {
  expect(wordsOfMcp(among("rpc", "schema"))).toEqual([]);
});

describe("detects a planted violation:", () => {
  test.each([
    ["an import()", 'export const load = () => import("../../http/server/endpoint.ts");', "lazy"],
    ["an import", 'import { Endpoint } from "../../http/server/endpoint.ts"; export const e = Endpoint;', "static"],
    [
      "an import type",
      'import type { Endpoint } from "../../http/server/endpoint.ts"; export type E = Endpoint;',
      "type",
    ],
    ["the type of an import", 'export type E = import("../../http/server/endpoint.ts").Endpoint;', "type"],
    ["an export", 'export { Endpoint } from "../../http/server/endpoint.ts";', "static"],
  ])("%s against the order", (_, text, kind) => {
    const planted = withFile("server/core/planted.ts", text);
    expect(importsAgainstOrder(planted)).toEqual([`server/core/planted.ts imports http/server/endpoint.ts (${kind})`]);
    expect(circlesOfLayers(planted)[0]).toEqual(expect.arrayContaining(["server/core", "http/server"]));
  });

  const cluster = 'import { Endpoint } from "../http/server/endpoint.ts"; export const share = Endpoint;';
  const endpoint = (text: string, from = "http/server/use-cluster.ts"): Source[] => [
    parseSource("cluster/share.ts", cluster),
    parseSource(from, text),
  ];

  test("an import() of the cluster by a file that is not allowed to import it", () => {
    const load = 'export const load = () => import("../../cluster/share.ts");';
    expect(importsAgainstOrder(endpoint(load))).toEqual([]);
    expect(circlesOfLayers(endpoint(load))).toEqual([]);
    const planted = endpoint(load, "http/server/planted.ts");
    expect(importsAgainstOrder(planted)).toEqual(["http/server/planted.ts imports cluster/share.ts (lazy)"]);
    expect(circlesOfLayers(planted)).toEqual([["cluster", "http/server"]]);
  });

  test("a static import and a type import of the cluster, which allows only import()", () => {
    const wrong = endpoint('import "../../cluster/share.ts"; import type { share } from "../../cluster/share.ts";');
    expect(importsAgainstOrder(wrong)).toEqual([
      "http/server/use-cluster.ts imports cluster/share.ts (static)",
      "http/server/use-cluster.ts imports cluster/share.ts (type)",
    ]);
  });

  test("a second import() of the cluster", () => {
    const load = 'import("../../cluster/share.ts");';
    expect(repeatedCompositions(endpoint(load))).toEqual([]);
    expect(repeatedCompositions(endpoint(load + load))).toEqual(["http/server/use-cluster.ts loads cluster"]);
  });

  test("a file in a folder that is no layer", () => {
    const name = "transports/planted.ts";
    expect(filesWithoutLayer(withFile(name, "export const planted = 1;"))).toEqual([name]);
    expect(layerOf("server/core/planted.ts")).toBe("server/core");
  });

  test("a circle of files, for the kinds of imports that count", () => {
    const circles = (closing: string, kinds?: readonly Import["kind"][]): string[][] =>
      circlesOfFiles(
        [
          parseSource("a/one.ts", 'import { two } from "./two.ts"; export const one = two;'),
          parseSource("a/two.ts", `${closing} export const two = 2;`),
          parseSource("a/three.ts", 'import { one } from "./one.ts"; export const three = one;'),
        ],
        kinds,
      );
    const later = 'export const later = () => import("./one.ts");';
    const type = 'import type { one } from "./one.ts"; export type One = typeof one;';
    expect(circles('import { one } from "./one.ts"; one;', ["static"])).toEqual([["a/one.ts", "a/two.ts"]]);
    for (const closing of [later, type]) {
      expect(circles(closing, ["static"])).toEqual([]);
      expect(circles(closing)).toEqual([["a/one.ts", "a/two.ts"]]);
    }
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
