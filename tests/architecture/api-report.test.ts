import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { apiReport } from "../../scripts/api/report.mjs";
import { publishedPackages } from "../../scripts/packages.mjs";
import { root } from "./source-files.ts";

test.each(publishedPackages())("the API of $name is the one in its folder api", (published) => {
  const folder = path.join(root, published.folder, "api");
  const committed = existsSync(folder) ? readdirSync(folder) : [];
  const texts = new Map(committed.map((file) => [file, readFileSync(path.join(folder, file), "utf8")]));
  // After an intended change: `npm run check -- api --update`. A reviewer then sees the change of the API.
  expect(Object.fromEntries(texts)).toEqual(Object.fromEntries(apiReport(published)));
});
