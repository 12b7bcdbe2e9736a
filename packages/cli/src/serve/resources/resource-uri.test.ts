import { expect, test } from "vitest";
import { schemeOf, uriOf } from "./resource-files.ts";

test.each([
  ["handbook", "handbook"],
  ["My Team's Handbook", "my-team-s-handbook"],
  ["2nd brain", "nd-brain"],
  ["日本", "folder"],
  ["-", "folder"],
  ["http", "http-folder"],
  ["File", "file-folder"],
])("the server %j has the scheme %j", (name, scheme) => {
  expect(schemeOf(name)).toBe(scheme);
  expect(URL.canParse(`${schemeOf(name)}://resources/a`)).toBe(true);
});

test("encodes each part of a path, so that no name changes the structure of the URI", () => {
  const uri = uriOf("docs", "resources", "a b/100%?#{x}/ü.md");
  expect(uri).toBe("docs://resources/a%20b/100%25%3F%23%7Bx%7D/%C3%BC.md");
});

test("makes URIs that normalization does not change", () => {
  const uri = uriOf("docs", "resources", "README/On Call.md");
  expect(new URL(uri).href).toBe(uri);
});
