import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import type { CatalogueTool } from "../../../packages/host/src/catalogue/catalogue.ts";
import { createCatalogue } from "../../../packages/host/src/catalogue/create-catalogue.ts";
import { ActiveRun } from "../../../packages/host/src/loop/run.ts";
import { hostToolNames } from "../../../packages/host/src/loop/stable-tools.ts";
import {
  answerStep,
  call,
  finish,
  question,
  scriptedStream,
  testParts,
} from "../../../packages/host/src/loop/testing/run-fixtures.ts";
import { estimateToolTokens } from "../../../packages/host/src/model/tokens.ts";
import { createToolSearch } from "../../../packages/host/src/search/tool-search.ts";
import { readCorpus } from "./corpus.ts";

/** Returns the tools of each server. */
function serversOf(tools: readonly CatalogueTool[]): Map<string, CatalogueTool[]> {
  const servers = new Map<string, CatalogueTool[]>();
  for (const tool of tools) servers.set(tool.server, [...(servers.get(tool.server) ?? []), tool]);
  return servers;
}

/** Returns the catalogue of a host that has the servers of the corpus. */
function corpusCatalogue() {
  const source = createCatalogue({ reservedNames: hostToolNames });
  const servers = serversOf(readCorpus());
  for (const [server, entries] of servers) {
    const tools = entries.map(({ tool }) => tool);
    source.replace(server, { tools, prompts: [], resources: [], templates: [], listedAt: 0, isCached: false });
  }
  return source.current;
}

test("a run with the published tools sends at most 2,000 tokens of tools, and calls a found tool", async () => {
  const catalogue = corpusCatalogue();
  expect(catalogue.tools).toHaveLength(1311);
  const found = "time__convert_time";
  const given = { source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" };
  const model = scriptedStream([
    [call("search_tools", { query: "convert time between timezones" }), finish("tool-calls")],
    [call("call_tool", { name: found, arguments: given }), finish("tool-calls")],
    answerStep,
  ]);
  const parts = testParts(model.stream, { catalogue: () => catalogue, search: createToolSearch() });
  const end = await new ActiveRun(parts, { messages: question }).finished;
  expect(end.reason).toBe("answered");

  const [first, second, third] = model.requests;
  const tools = first?.tools ?? [];
  expect(tools.map(({ name }) => name)).toEqual(["read_result", "search_tools", "call_tool"]);
  const tokens = countTokens(JSON.stringify(tools));
  expect(tokens).toBeLessThanOrEqual(2_000);
  expect(estimateToolTokens(tools)).toBeGreaterThanOrEqual(tokens);
  expect([second?.tools, third?.tools]).toEqual([tools, tools]);
  expect(JSON.stringify(second?.messages.at(-1))).toContain(found);
  expect(parts.calls.map(({ tool, arguments: args }) => [tool.name, args])).toEqual([[found, given]]);
});

test("the limit of 8,000 tokens is estimated from the definitions that a request has", async () => {
  const catalogue = corpusCatalogue();
  const small = { ...catalogue, tools: catalogue.tools.filter(({ server }) => server === "time") };
  const model = scriptedStream([answerStep]);
  await new ActiveRun(testParts(model.stream, { catalogue: () => small, search: createToolSearch() }), {
    messages: question,
  }).finished;
  expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual([
    "read_result",
    ...small.tools.map(({ name }) => name),
  ]);
});
