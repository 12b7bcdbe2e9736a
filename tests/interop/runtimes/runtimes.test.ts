import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pairingsOf } from "./pairings.mjs";
import { type Result, type RuntimeRow, checkServer } from "./run-runtime.mjs";
import { revisions, runtimes } from "./sides.mjs";
import { failedParts, partsOf, summaryTable } from "./summary.mjs";
import type { Known } from "../matrix/types.ts";

const place = { program: "runtime", project: "/project" };
const all = runtimes.map((runtime) => ({ runtime, pairings: pairingsOf(runtime, place, []) }));

function row(changes: Partial<RuntimeRow>): RuntimeRow {
  return {
    client: "this Node",
    server: "Bun (listen)",
    transport: "http",
    revisionKind: "modern",
    revision: "2026-07-28",
    role: "server",
    by: "listen",
    cells: { lifecycle: { state: "ok" }, close: { state: "ok" } },
    transcript: [],
    ...changes,
  };
}

function result(rows: RuntimeRow[], parts?: Result["parts"]): Result {
  return { runtime: runtimes.find(({ name }) => name === "bun")!, version: "1.4.5", rows, parts };
}

test.each(all)("$runtime.title runs each revision in each role and over each transport", ({ runtime, pairings }) => {
  for (const [role, sides] of Object.entries({ client: runtime.clients, server: runtime.servers })) {
    for (const { by, transport } of sides) {
      const found = pairings.filter((one) => one.role === role && one.by === by && one.transport === transport);
      expect(found.map(({ revision }) => revision)).toEqual(revisions);
    }
  }
});

test("only the newest revision is modern, and 2024-11-05 is served over HTTP+SSE", () => {
  const { pairings } = all.find(({ runtime }) => runtime.name === "node22")!;
  const overHttp = pairings.filter(({ role, transport }) => role === "server" && transport === "http");
  expect(overHttp.map(({ revisionKind }) => revisionKind)).toEqual(["legacy", "legacy", "legacy", "legacy", "modern"]);
  expect(overHttp.map(({ serverCommand }) => serverCommand.args.at(-1))).toEqual([
    "sse",
    "http",
    "http",
    "http",
    "http",
  ]);
});

test("each note of known.json names a runtime in its role, and has a reason", () => {
  const names = new Set(all.flatMap(({ pairings }) => pairings.map((one) => `${one.role} ${one[one.role]}`)));
  const notes = JSON.parse(readFileSync(new URL("known.json", import.meta.url), "utf8")) as Known[];
  for (const { side, peer, reason } of notes) {
    expect(names).toContain(`${side} ${peer}`);
    expect(reason).not.toBe("");
  }
});

test("a server over stdio fails if its process does not exit with 0", () => {
  const over = (last: string): RuntimeRow => checkServer(row({ transport: "stdio", transcript: ["→ {}", last] }));
  expect(over("the server ended with 0").cells?.close?.state).toBe("ok");
  expect(over("the server ended with SIGTERM").cells?.close).toMatchObject({
    state: "failed",
    reason: expect.stringMatching(/SIGTERM/),
  });
  expect(over("← {}").cells?.close?.state).toBe("failed");
  expect(checkServer(row({ transport: "stdio", role: "client", transcript: [] })).cells?.close?.state).toBe("ok");
});

test("a server over HTTP fails if it writes to stderr, except for the warning of Deno", () => {
  const writing = (complaint: string): RuntimeRow => checkServer(row({ complaints: [complaint] }));
  expect(writing("! The request had hung.").cells?.close).toMatchObject({
    state: "failed",
    reason: expect.stringMatching(/had hung/),
  });
  const warning = "! Deno.serve: request.signal aborts on successful responses (legacy behavior).";
  expect(writing(warning).cells?.close?.state).toBe("ok");
});

test("the table counts the conversations that worked, of those that the revision has", () => {
  const cells = { lifecycle: { state: "ok" }, elicitation: { state: "lacking" }, close: { state: "failed" } } as const;
  const old = row({ revision: "2024-11-05", revisionKind: "legacy", cells });
  const { cells: _, ...bare } = row({});
  const rows = [old, row({ cells }), { ...bare, notRun: "No Bun." }];
  const line = summaryTable([result(rows)]).split("\n")[2];
  expect(line).toBe("| Bun 1.4.5 | server | HTTP | `listen` | 1 of 2 | 1 of 3 | not run: No Bun. |");
});

test("a part that failed is a failure, and its runtime is not named among those that worked", () => {
  const worked = [{ part: "mcparley/server" }, { part: "fileStore" }];
  expect(partsOf([result([], worked)])).toEqual([
    "- Bun 1.4.5: all 1 entry points load, and `fileStore` write and read.",
  ]);
  const broken = result([], [...worked, { part: "fileCredentials", error: "no key" }]);
  expect(partsOf([broken])).toEqual([]);
  expect(failedParts(broken)).toEqual(["FAIL Bun 1.4.5: fileCredentials: no key"]);
});
