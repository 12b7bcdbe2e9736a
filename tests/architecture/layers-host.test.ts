import { expect, test } from "vitest";
import { circlesOfFiles } from "../../scripts/house/circles.mjs";
import { parseSource } from "../../scripts/house/syntax.mjs";
import { hostLayers, hostSources } from "./layers-host.ts";
import { circlesOfLayers, filesWithoutLayer, importsAgainstOrder, layerOf } from "./layers.ts";

const files = hostSources();

test("every folder of the host belongs to a layer", () => {
  expect(filesWithoutLayer(files, hostLayers)).toEqual([]);
});

test("imports of the host point in one direction", () => {
  expect(importsAgainstOrder(files, hostLayers)).toEqual([]);
});

test("layers of the host have no circular imports, and import types count", () => {
  expect(circlesOfLayers(files, hostLayers)).toEqual([]);
});

test("files of the host have no circular imports at run time", () => {
  expect(circlesOfFiles(files, ["static"])).toEqual([]);
});

test("each layer of the host uses the layers that it may import", () => {
  const used = new Set(
    files.flatMap(({ name, imports }) =>
      imports.map(({ from }) => `${layerOf(name, hostLayers)} ${layerOf(from, hostLayers)}`),
    ),
  );
  const unused = Object.entries(hostLayers).flatMap(([layer, others]) =>
    others.map((other) => `${layer} ${other}`).filter((edge) => !used.has(edge)),
  );
  expect(unused).toEqual([]);
});

test("an import of the host against the order is detected", () => {
  const planted = parseSource(
    "consent/planted.ts",
    'import type { Host } from "../host/host.ts"; export type H = Host;',
  );
  expect(importsAgainstOrder([...files, planted], hostLayers)).toEqual([
    "consent/planted.ts imports host/host.ts (type)",
  ]);
  expect(circlesOfLayers([...files, planted], hostLayers)[0]).toEqual(expect.arrayContaining(["consent", "host"]));
});
