import type { Tool } from "mcparley/client";
import { describe, expect, test } from "vitest";
import { memoryState } from "../state/state-storage.ts";
import type { DefinitionChange, ReviewRequest } from "../renderer/renderer.ts";
import { consentFixture, toolNamed } from "./testing/consent-fixture.ts";

/*
 * A definition that differs in anything from the accepted one cannot be used before a person has reviewed the difference.
 */

/** A definition with each member of the specification, and with members that it does not know. */
const full: Tool & Record<string, unknown> = {
  name: "send_mail",
  title: "Send mail",
  description: "Sends a message.",
  inputSchema: {
    type: "object",
    properties: {
      to: { type: "array", items: { type: "string", format: "email" }, minItems: 1 },
      text: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
    },
    required: ["to", "text"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { id: { type: "integer", minimum: 0 } } },
  annotations: {
    title: "Mail",
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  icons: [{ src: "https://example.com/a.png", mimeType: "image/png", sizes: ["48x48", "96x96"], theme: "dark" }],
  execution: { taskSupport: "optional" },
  _meta: { "example.com/cost": 0.5, "example.com/tags": ["a", "b"], "": { deep: [[1, 2], []] } },
  "x-unknown": { list: [true, false, null, "text", 1.5] },
};

interface Mutation {
  /** The JSON pointer of the mutated value, and the kind of the mutation. */
  readonly label: string;
  readonly path: string;
  readonly definition: Tool;
}

type Path = readonly (string | number)[];

/** Returns each mutation of a value at each depth: another value, no value, one more, and another order of an array. */
function mutationsOf(value: unknown, path: Path = []): Mutation[] {
  const own: Mutation[] = [];
  const pointer = path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const add = (kind: string, change: (copy: Tool) => void): void => {
    const definition = structuredClone(full);
    change(definition);
    own.push({ label: `${kind} ${pointer}`, path: pointer, definition });
  };
  if (path.length > 0) {
    for (const other of othersFor(value))
      add(`replace by ${JSON.stringify(other)}`, (copy) => setAt(copy, path, other));
    add("remove", (copy) => removeAt(copy, path));
  }
  if (Array.isArray(value)) {
    add("append to", (copy) => (at(copy, path) as unknown[]).push("more"));
    if (value.length > 1) add("reverse", (copy) => setAt(copy, path, value.toReversed()));
  } else if (typeof value === "object" && value !== null) {
    add("add a member to", (copy) => ((at(copy, path) as Record<string, unknown>).added = null));
  }
  if (typeof value !== "object" || value === null) return own;
  return [...own, ...Object.entries(value).flatMap(([name, member]) => mutationsOf(member, [...path, name]))];
}

/** Returns other values of each type, and almost the same text. */
function othersFor(value: unknown): unknown[] {
  const near = typeof value === "string" ? [`${value} `, `${value}\u200b`, value.toUpperCase()] : [];
  const numbers = typeof value === "number" ? [value + 1, -value - 1] : [];
  const json = JSON.stringify(value);
  return [...near, ...numbers, json, null, true, false, 0, "", [], {}].filter(
    (other) => JSON.stringify(other) !== json,
  );
}

function at(root: unknown, path: Path): unknown {
  return path.reduce((value, part) => (value as Record<string | number, unknown>)[part], root);
}

function setAt(root: unknown, path: Path, value: unknown): void {
  (at(root, path.slice(0, -1)) as Record<string | number, unknown>)[path.at(-1)!] = value;
}

function removeAt(root: unknown, path: Path): void {
  const parent = at(root, path.slice(0, -1));
  if (Array.isArray(parent)) parent.splice(Number(path.at(-1)), 1);
  else delete (parent as Record<string | number, unknown>)[path.at(-1)!];
}

/** Returns the same JSON with the members of all objects in the opposite order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reordered(member)]),
  );
}

// A tool without a name, or with one of another type, is refused by the client.
const mutations = mutationsOf(full).filter(
  ({ definition }) => typeof definition.name === "string" && definition.name !== "",
);

/** Returns whether a difference at `path` shows a mutation at `mutated`: at the value, within it, or at one that contains it. */
function shows(path: string, mutated: string): boolean {
  return (
    path === mutated || path.startsWith(`${mutated}/`) || mutated.startsWith(`${path}/`) || isSibling(path, mutated)
  );
}

/** The removal of an element of an array moves the later ones. */
function isSibling(path: string, mutated: string): boolean {
  const parent = mutated.slice(0, mutated.lastIndexOf("/"));
  return path.startsWith(`${parent}/`);
}

test("the mutations reach each member of the definition at each depth", () => {
  const paths = new Set(mutations.map(({ path }) => path));
  for (const path of Object.keys(full)) expect(paths, path).toContain(`/${path}`);
  expect(paths).toContain("/inputSchema/properties/to/items/format");
  expect(paths).toContain("/_meta//deep/0/1");
  expect(paths).toContain("/_meta/example.com~1tags/0");
  expect(mutations.length).toBeGreaterThan(500);
});

test("each mutation makes the definition unusable until the difference was reviewed", async () => {
  const storage = memoryState();
  await consentFixture({ storage, renderer: { review: () => ({ accepted: "all" }) } }).review([full]);
  const problems: string[] = [];
  for (const { label, path, definition } of mutations) {
    const requests: ReviewRequest[] = [];
    const review = (request: ReviewRequest): { accepted: [] } => {
      requests.push(request);
      return { accepted: [] };
    };
    const { consent, ...host } = consentFixture({ storage, renderer: { review } });
    const { lists, waiting } = await host.review([definition]);
    const isUsable = consent.definitions.isUsable("files", "tool", { name: definition.name, definition });
    if (lists.tools.length > 0 || isUsable || waiting.length !== 1) problems.push(`usable: ${label}`);
    const [change] = requests[0]?.changes ?? [];
    const differences = change?.differences ?? [];
    if (!differences.some((difference) => shows(difference.path, path))) problems.push(`not shown: ${label}`);
    if (differences.some(({ before, after }) => before === after)) problems.push(`shown as equal: ${label}`);
    if (differences.some(({ after }) => after?.includes("\u200b"))) problems.push(`shown without escapes: ${label}`);
    // Afterwards the accepted definition is still usable, and also in a new host.
    if ((await host.review([structuredClone(full)])).lists.tools.length !== 1) problems.push(`original lost: ${label}`);
  }
  expect(problems).toEqual([]);
});

test("an accepted mutation is usable, and then the original is not", async () => {
  const accepting = { review: () => ({ accepted: "all" as const }) };
  const problems: string[] = [];
  for (const { label, definition } of mutations.filter((_, index) => index % 7 === 0)) {
    const storage = memoryState();
    await consentFixture({ storage, renderer: accepting }).review([full]);
    if ((await consentFixture({ storage, renderer: accepting }).review([definition])).lists.tools.length !== 1) {
      problems.push(`not usable: ${label}`);
    }
    if ((await consentFixture({ storage }).review([full])).lists.tools.length > 0)
      problems.push(`still usable: ${label}`);
  }
  expect(problems).toEqual([]);
});

test("another order of the members of objects is the same definition", async () => {
  const storage = memoryState();
  await consentFixture({ storage, renderer: { review: () => ({ accepted: "all" }) } }).review([full]);
  const other = reordered(full) as Tool;
  expect(JSON.stringify(other)).not.toBe(JSON.stringify(full));
  const { lists, waiting } = await consentFixture({ storage }).review([other]);
  expect(lists.tools).toEqual([other]);
  expect(waiting).toEqual([]);
});

describe("the change", () => {
  async function changeFrom(before: readonly Tool[], after: readonly Tool[]): Promise<readonly DefinitionChange[]> {
    const storage = memoryState();
    await consentFixture({ storage, renderer: { review: () => ({ accepted: "all" }) } }).review(before);
    return (await consentFixture({ storage }).review(after)).waiting;
  }
  const add: Tool = { name: "add", description: "Adds.", inputSchema: { type: "object" } };

  test("of a changed definition has both definitions and their differences with escapes", async () => {
    const after = { ...add, description: "Adds.\u202e", inputSchema: { type: "object", required: ["a"] } };
    expect(await changeFrom([add], [after])).toEqual([
      {
        kind: "tool",
        name: "add",
        status: "changed",
        previous: add,
        current: after,
        differences: [
          { path: "/description", before: '"Adds."', after: '"Adds.\\u{202e}"' },
          { path: "/inputSchema/required", before: undefined, after: '["a"]' },
        ],
        remarks: ['The text at "/description" contains U+202E (direction control) at position 5.'],
      },
    ]);
  });

  test("of a new definition has each of its members", async () => {
    const [change] = await changeFrom([add], [add, { ...add, name: "\u0430dd", description: "Other." }]);
    expect(change).toMatchObject({
      status: "new",
      remarks: [expect.stringMatching(/^The name contains U\+0430/), expect.any(String)],
    });
    expect(change?.previous).toBeUndefined();
    expect(change?.differences).toEqual([
      { path: "/name", before: undefined, after: '"\\u{430}dd"' },
      { path: "/description", before: undefined, after: '"Other."' },
      { path: "/inputSchema", before: undefined, after: '{"type":"object"}' },
    ]);
  });

  test("of a renamed definition has the former one", async () => {
    const renamed = { ...add, name: "plus" };
    expect(await changeFrom([add], [renamed])).toMatchObject([
      {
        status: "renamed",
        name: "plus",
        previous: add,
        current: renamed,
        differences: [{ path: "/name", before: '"add"', after: '"plus"' }],
      },
    ]);
    // A copy beside the original is new.
    expect(await changeFrom([add], [add, renamed])).toMatchObject([{ status: "new", name: "plus" }]);
  });
});

test("of 1,001 pins of definitions that are gone the oldest one is removed", async () => {
  const first = consentFixture({ policy: { review: "changes" } });
  const { storage } = first;
  await first.review([]);
  const names = Array.from({ length: 1_001 }, (_, index) => `tool_${index}`);
  const asked = consentFixture({
    policy: { review: "changes" },
    storage,
    renderer: { review: () => ({ accepted: "all" }) },
  });
  await asked.review(names.map((name) => toolNamed(name)));
  await asked.review([toolNamed("last")]);
  const strict = consentFixture({ policy: { review: "changes" }, storage });
  const { waiting } = await strict.review([toolNamed("tool_0"), toolNamed("tool_1"), toolNamed("tool_1000")]);
  expect(waiting.map(({ name }) => name)).toEqual(["tool_0"]);
});
