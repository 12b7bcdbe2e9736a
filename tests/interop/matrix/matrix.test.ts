import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { noteFor, staleNotes } from "./known.mjs";
import { peers } from "./peers.mjs";
import { explanation, isWrong, table } from "./table.mjs";
import type { Cell, Feature, Known, Row } from "./types.ts";

const features: Feature[] = [
  "lifecycle",
  "tools",
  "prompts",
  "resources",
  "completion",
  "progress",
  "cancel",
  "elicitation",
  "sampling",
  "subscriptions",
  "close",
];

function row(cells: Partial<Record<Feature, Cell>> = {}): Row {
  const all = Object.fromEntries(features.map((feature) => [feature, { state: "ok" as const }]));
  return {
    client: "mcparley",
    server: "peer",
    transport: "http",
    revisionKind: "modern",
    cells: { ...all, ...cells },
    transcript: [],
  };
}

const note: Known = {
  peer: "peer",
  side: "server",
  transports: ["http"],
  revisionKinds: ["modern"],
  features: ["cancel"],
  reason: "It receives nothing.",
};

test("each note of known.json names an existing peer, and has a reason", () => {
  const file = new URL("known.json", import.meta.url);
  for (const { peer, side, reason } of JSON.parse(readFileSync(file, "utf8")) as Known[]) {
    expect(peers.find(({ name }) => name === peer)).toHaveProperty(side);
    expect(reason).toMatch(/^\S+ \d/);
  }
});

test("a note applies only to the pairing and the feature that it names", () => {
  expect(noteFor([note], row(), "cancel")).toBe(note);
  expect(noteFor([note], row(), "tools")).toBeUndefined();
  expect(noteFor([note], { ...row(), revisionKind: "legacy" }, "cancel")).toBeUndefined();
  expect(noteFor([note], { ...row(), client: "peer", server: "mcparley" }, "cancel")).toBeUndefined();
});

test("a note with revisions applies only to rows of these revisions", () => {
  const restricted: Known = { ...note, revisions: ["2025-06-18"] };
  expect(noteFor([restricted], { ...row(), revision: "2025-06-18" }, "cancel")).toBe(restricted);
  expect(noteFor([restricted], { ...row(), revision: "2025-11-25" }, "cancel")).toBeUndefined();
  expect(noteFor([restricted], row(), "cancel")).toBeUndefined();
});

test("a note is stale if its feature has run and worked", () => {
  expect(staleNotes([note], [row()])).toEqual([note]);
  expect(staleNotes([note], [row({ cancel: { state: "known" } })])).toEqual([]);
  expect(staleNotes([note], [{ ...row(), revisionKind: "legacy" }])).toEqual([]);
  const { cells: _, ...notRun } = row();
  expect(staleNotes([note], [{ ...notRun, notRun: "There is no Go." }])).toEqual([]);
});

test("a pairing is wrong if a feature failed or was not reached, but not if the pairing was not run", () => {
  expect(isWrong(row())).toBe(false);
  expect(isWrong(row({ cancel: { state: "known" }, prompts: { state: "lacking" } }))).toBe(false);
  expect(isWrong(row({ cancel: { state: "failed" } }))).toBe(true);
  const { cells: _, ...bare } = row();
  expect(isWrong({ ...bare, cells: { lifecycle: { state: "ok" } } })).toBe(true);
  expect(isWrong({ ...bare, notRun: "There is no Go." })).toBe(false);
});

test("the table marks pairings that were not run, and the explanation ends with the transcript", () => {
  const { cells: _, ...bare } = row();
  const shown = table([row({ cancel: { state: "failed" } }), { ...bare, notRun: "There is no Go." }]);
  expect(shown.split("\n")[1]).toMatch(/ok +ok +ok +ok +ok +ok +FAIL/);
  expect(shown.split("\n")[2]).toMatch(/not run: There is no Go\.$/);
  const failed = { ...row({ cancel: { state: "failed", reason: "no end" } }), transcript: ["→ a", "← b"] };
  expect(explanation(failed).split("\n")).toEqual([
    "mcparley → peer over http, modern",
    "  cancel: no end",
    "    → a",
    "    ← b",
  ]);
});
