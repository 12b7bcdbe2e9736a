import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { estimateToolTokens, estimateTokens } from "../../../packages/host/src/model/tokens.ts";
import { createToolSearch } from "../../../packages/host/src/search/tool-search.ts";
import { type Query, readCorpus, readQueries } from "./corpus.ts";

const corpus = readCorpus();
const queries = readQueries();
const toolSearch = createToolSearch();
toolSearch.update(corpus);

/** The share of the queries with an acceptable tool among the first five results. */
function recallAtFive(chosen: readonly Query[]): number {
  const found = chosen.filter(({ query, tools }) => {
    const names = new Set(toolSearch.search(query, 5).map(({ tool: { server, tool } }) => `${server}/${tool.name}`));
    return tools.some((name) => names.has(name));
  });
  return found.length / chosen.length;
}

describe("recall over the published tools", () => {
  test("the corpus has at least 1,000 tools with distinct names", () => {
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
    expect(corpus.length).toBeGreaterThanOrEqual(1_000);
  });

  test("each of 200 queries names tools of the corpus, and every second one is held out", () => {
    const names = new Set(corpus.map(({ server, tool }) => `${server}/${tool.name}`));
    expect(queries).toHaveLength(200);
    expect(queries.flatMap(({ tools }) => tools).filter((name) => !names.has(name))).toEqual([]);
    expect(queries.map(({ heldOut }) => heldOut)).toEqual(queries.map((_, place) => place % 2 === 1));
  });

  test.each([
    ["used to choose the weights", false, 0.95],
    ["held out", true, 0.93],
  ])("finds an acceptable tool among five for the queries that are %s", (_, heldOut, minimum) => {
    const recall = recallAtFive(queries.filter((query) => query.heldOut === heldOut));
    process.stdout.write(`recall at 5, ${heldOut ? "held out" : "tuned"}: ${recall.toFixed(3)}\n`);
    expect(recall).toBeGreaterThanOrEqual(minimum);
  });

  test("returns the same results from an index that grew one server at a time", () => {
    const grown = createToolSearch();
    const servers = [...new Set(corpus.map(({ server }) => server))];
    for (const [place] of servers.entries()) {
      const known = new Set(servers.slice(0, place + 1));
      grown.update(corpus.filter(({ server }) => known.has(server)));
    }
    for (const { query } of queries) expect(grown.search(query)).toEqual(toolSearch.search(query));
  });
});

describe("tokens of the published tools", () => {
  test("the tools for the model have at most 2,000 tokens, and the catalogue has many more", () => {
    const prompt = countTokens(JSON.stringify(toolSearch.modelTools()));
    const catalogue = corpus.reduce((sum, { tool }) => sum + countTokens(JSON.stringify(tool)), 0);
    process.stdout.write(`prompt: ${prompt} tokens instead of ${catalogue}\n`);
    expect(prompt).toBeLessThanOrEqual(2_000);
    expect(catalogue).toBeGreaterThan(100_000);
  });

  test("the estimate is between one and one and a half times the number of a tokenizer", () => {
    const texts = corpus.map(({ tool }) => JSON.stringify(tool));
    const ratios = texts.map((text) => estimateTokens(text) / countTokens(text));
    const total = texts.reduce((sum, text) => sum + countTokens(text), 0);
    const estimate = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    expect(estimate / total).toBeGreaterThan(1);
    expect(estimate / total).toBeLessThan(1.5);
    expect(Math.min(...ratios)).toBeGreaterThan(0.9);
  });

  test("the estimate for the two tools is not below the number of a tokenizer", () => {
    const tools = toolSearch.modelTools();
    expect(estimateToolTokens(tools)).toBeGreaterThanOrEqual(countTokens(JSON.stringify(tools)));
  });

  test("the text of each search stays within its budget", () => {
    for (const { query } of queries) {
      expect(estimateTokens(toolSearch.answer({ query }).text)).toBeLessThanOrEqual(6_000);
    }
  });
});

test("searches 10,000 tools", () => {
  const copies = Array.from({ length: 8 }, (_, copy) =>
    corpus.map((entry) => ({ ...entry, name: `${entry.name}_${copy}`, server: `${entry.server}-${copy}` })),
  ).flat();
  const large = createToolSearch();
  large.update(copies);
  expect(copies.length).toBeGreaterThanOrEqual(10_000);
  const [best] = large.search("convert time between timezones");
  expect(best?.tool.tool.name).toBe("convert_time");
  expect(countTokens(JSON.stringify(large.modelTools()))).toBeLessThanOrEqual(2_000);
});
