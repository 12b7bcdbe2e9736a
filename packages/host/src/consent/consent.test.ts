import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Renderer } from "../renderer/renderer.ts";
import { fileState } from "../state/file-state.ts";
import { callOf, consentFixture, never, target, toolNamed } from "./testing/consent-fixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "mcparley host consent "));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const tool = toolNamed("send");
const agreeing: Renderer = {
  trust: () => ({ action: "trust" }),
  review: () => ({ accepted: "all" }),
  approve: () => ({ action: "allow", remember: "always" }),
};

test("the answers of a person hold for the next host that uses the same folder", async () => {
  const first = consentFixture({ storage: fileState(folder), renderer: agreeing });
  await first.consent.trust.require({ server: "files", target }, never);
  await first.review([tool]);
  await first.consent.calls.check(callOf(tool), never);
  expect(readdirSync(folder).toSorted()).toEqual([".lock", "pins", "policy.json", "trust.json"]);
  expect(readdirSync(path.join(folder, "pins"))).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)]);

  const next = consentFixture({ storage: fileState(folder) });
  await next.consent.trust.require({ server: "files", target }, never);
  expect((await next.review([tool])).lists.tools).toEqual([tool]);
  expect(await next.consent.calls.check(callOf(tool), never)).toMatchObject({ isAllowed: true });
  expect(next.decisions.map(({ subject, by }) => `${subject} ${by}`)).toEqual(["trust remembered", "call remembered"]);
  expect([...first.errors, ...next.errors]).toEqual([]);
});

test("two hosts that accept definitions of one server at once lose none", async () => {
  const hosts = [fileState(folder), fileState(folder)].map((storage) =>
    consentFixture({ storage, renderer: agreeing }),
  );
  await Promise.all(hosts.map((host, index) => host.review([toolNamed(`t${index}`)])));
  const { lists } = await consentFixture({ storage: fileState(folder) }).review([toolNamed("t0"), toolNamed("t1")]);
  expect(lists.tools).toHaveLength(2);
});

test("all questions of a host, and those of its other parts, are asked one after another", async () => {
  const events: string[] = [];
  const slowly = async <T>(name: string, answer: T): Promise<T> => {
    events.push(`${name} starts`);
    await new Promise(setImmediate);
    events.push(`${name} ends`);
    return answer;
  };
  const host = consentFixture({
    renderer: {
      trust: () => slowly("trust", { action: "trust" }),
      review: () => slowly("review", { accepted: "all" }),
    },
  });
  await Promise.all([
    host.consent.trust.require({ server: "files", target }, never),
    host.review([tool]),
    host.consent.queue(() => slowly("form", {}), never),
  ]);
  expect(events).toHaveLength(6);
  for (let index = 0; index < 6; index += 2) {
    expect(events[index + 1]).toBe(events[index]?.replace("starts", "ends"));
  }
});
