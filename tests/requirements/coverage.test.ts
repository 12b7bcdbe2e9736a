import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { requirements } from "./data/all.ts";
import { collect } from "./proves.ts";
import { transportsOf, versionsOf } from "./requirement.ts";

const proofs = new URL("proofs/", import.meta.url);
// A proof of an id that is not in the data throws while it is imported, and so fails here as well.
const proven = await collect(async () => {
  const files = readdirSync(proofs).filter((name) => name.endsWith(".test.ts"));
  for (const file of files) await import(new URL(file, proofs).href);
});

test("every requirement has a proof or an excuse", () => {
  const missing = requirements.filter(({ id, excuse }) => !proven.has(id) && !excuse).map(({ id }) => id);
  expect(missing).toEqual([]);
});

test("every id is unique and starts with its area", () => {
  const ids = requirements.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(ids.filter((id) => !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(id))).toEqual([]);
});

test("every requirement applies to a revision and a transport, and is one sentence", () => {
  const nowhere = requirements.filter((one) => versionsOf(one).length === 0 || transportsOf(one).length === 0);
  expect(nowhere).toEqual([]);
  expect(requirements.filter(({ says }) => !/^[A-Z`].*[.]$/.test(says)).map(({ id }) => id)).toEqual([]);
});

test("every excuse has at least 30 characters", () => {
  const short = requirements.filter(({ excuse }) => excuse !== undefined && excuse.length < 30).map(({ id }) => id);
  expect(short).toEqual([]);
});
