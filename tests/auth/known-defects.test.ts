import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What went wrong in the authorization of other implementations. The tests that it cannot here begin with the row. */
const defects: Record<string, string> = {
  A1: "stored credentials are sent to an authorization server that the MCP server chose",
  A2: "tokens for another resource are accepted, as the audience is not checked unless asked for",
  A3: "tasks are not bound to whoever made them",
  A4: "an authorization URL is opened through a shell",
  A5: "issuers are compared after a slash was added",
  A6: "a resource parameter that the authorization server refuses cannot be changed",
  A7: "registrations are kept that the authorization server has forgotten, or whose redirect URI has changed",
  A8: "discovery reaches into private networks by metadata, redirects or rebinding",
  A9: "authorization is passed on to others without consent",
};

const titles = testFiles().flatMap((file) =>
  [
    ...readFileSync(file, "utf8").matchAll(
      /\b(?:test|describe)(?:\.each[^"'`]*?)?\(\s*["'`]([A-Z]\d+)(?:, [A-Z]\d+)*: /g,
    ),
  ].map(([, row]) => row),
);

function testFiles(): string[] {
  return ["packages", "tests"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts") && !/(^|\/)(node_modules|dist)\//.test(name))
      .map((name) => path.join(root, folder, name)),
  );
}

test.each(Object.entries(defects))("there is a test that this cannot happen: %s, %s", (row) => {
  expect(titles).toContain(row);
});
