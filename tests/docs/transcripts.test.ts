import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { transcripts } from "../transcripts/transcript.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/learn/revisions.md", import.meta.url)), "utf8");
const recorded = transcripts();

/** The lines of the transcripts on the page, with the revision in the heading above them. */
const shown = page.split(/^## /m).flatMap((section) => {
  const [revision = ""] = section.split("\n");
  const blocks = [...section.matchAll(/^```text\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, block = ""]) => block.trimEnd().split("\n")).map((line) => ({ revision, line }));
});

test("the page shows a conversation of each revision", () => {
  expect(shown.length).toBeGreaterThan(20);
  expect(new Set(shown.map(({ revision }) => revision))).toEqual(
    new Set(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]),
  );
});

test.each(shown)("$revision: $line occurs in a recorded conversation", ({ revision, line }) => {
  const pattern = new RegExp(`^${line.split("…").map(escaped).join(".*")}$`);
  const lines = recorded.filter((one) => one.revision === revision).flatMap((one) => one.lines);
  const texts = lines.map(({ from, message }) => `${from} ${JSON.stringify(message)}`);
  expect(texts.some((text) => pattern.test(text))).toBe(true);
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
