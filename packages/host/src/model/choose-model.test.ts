import { expect, test } from "vitest";
import { scriptedModel } from "../testing/scripted-model.ts";
import { chooseModel } from "./language-model.ts";

const [large, small, other] = [
  scriptedModel([], { provider: "acme", modelId: "acme-large-2" }),
  scriptedModel([], { provider: "acme", modelId: "acme-small-2" }),
  scriptedModel([], { provider: "local", modelId: "Llama" }),
] as const;
const models = [large, small, other] as const;

test.each([
  ["no preferences", undefined, large],
  ["no hints", {}, large],
  ["a part of the model's id", { hints: [{ name: "small" }] }, small],
  ["a part of provider/modelId in another case", { hints: [{ name: "LOCAL/ll" }] }, other],
  ["the first hint that matches", { hints: [{ name: "gpt" }, { name: "llama" }, { name: "large" }] }, other],
  ["the first model that matches", { hints: [{ name: "acme" }] }, large],
  ["hints that match nothing", { hints: [{ name: "gpt" }] }, large],
  ["empty and malformed hints", { hints: [{}, { name: " " }, null as never] }, large],
  ["hints that are no list", { hints: "small" as never }, large],
  ["priorities only", { costPriority: 1, intelligencePriority: 0 }, large],
])("with %s", (_, preferences, expected) => {
  expect(chooseModel(models, preferences)).toBe(expected);
});

test("a single model is always used", () => {
  expect(chooseModel(other, { hints: [{ name: "acme" }] })).toBe(other);
});
