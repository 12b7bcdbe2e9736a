import { afterEach } from "vitest";
import { forgetRevisions } from "../../packages/mcparley/src/client/connect/remembered-revisions.ts";
import { play } from "./calls/play.ts";
import { story } from "./calls/steps.ts";
import { holds } from "./holds.ts";

afterEach(forgetRevisions);

for (const way of ["memory", "stdio", "http"] as const) {
  for (const revision of ["2026-07-28", "2025-11-25"]) {
    const name = `calls, ${way}, ${revision}: whatever happens, each settles once and nothing is left in flight`;
    holds(name, story, (randomStory) => play(way, revision, randomStory), { runs: 20, weight: 3 });
  }
}
