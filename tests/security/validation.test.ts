import { type ProtocolError, connect } from "mcparley/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostileSchemas } from "./programs/hostile-schemas.ts";
import { type RunningProgram, programTimeout, runProgram, startProgram } from "./run-program.ts";

/** A test waits longer than its program may run, so that the program's end is what it reports. */
const timeout = programTimeout + 30_000;

let server: RunningProgram;
beforeAll(async () => {
  server = await startProgram("attacked-server");
}, timeout);
afterAll(() => server.stop());

interface Attack {
  name: string;
  tool: string;
  items: unknown[];
  /** Part of the tool error. */
  says: string;
}

/** 768 kB: 48,000 objects that match no alternative. With their members these are 96,001 values. */
const none = Array.from({ length: 48_000 }, () => ({ kind: "none" }));
/** 700 kB: 22,600 objects that match the last alternative only. */
const last = Array.from({ length: 22_600 }, () => ({ kind: "kind 29", text29: "" }));

/** 3 kB: fewer than 1,000 values. With 30 zod objects of 60 properties a library reports 1.8 million issues for them. */
const empty = Array.from({ length: 998 }, () => ({}));

/** 84 kB. The JSON Schema accepts them at once, and a library reports 10 million issues on the way. */
const small = Array.from({ length: 6000 }, () => ({ last: true }));

const attacks: Attack[] = [
  { name: "items that match none of 30 alternatives", tool: "alternatives", items: none, says: "30 alternatives" },
  { name: "items that match the last of 30 alternatives", tool: "alternatives", items: last, says: "too complex" },
  { name: "items that match none of 30 zod schemas", tool: "union", items: none, says: "30 alternatives" },
  { name: "items that match the last of 30 zod schemas", tool: "union", items: last, says: "too complex" },
  { name: "3 kB of empty objects", tool: "largeUnion", items: empty, says: "30 alternatives" },
  { name: "84 kB that match the last of 30 large zod schemas", tool: "largeUnion", items: small, says: "too complex" },
  {
    name: "99,000 unique numbers",
    tool: "unique",
    items: [...Array.from({ length: 98_999 }, (_, n) => n), 0],
    says: "the same item twice",
  },
];

/** Sends an attack as one client, and a usual call as the next one, which must both be answered. */
async function attack({ tool, items }: Attack): Promise<{ isError: unknown; text: string; cpu: number }> {
  const attacker = await connect(server.firstLine);
  const next = await connect(server.firstLine);
  const before = Number(await next.callTool("cpu"));
  const { isError, content } = await attacker.callToolResult(tool, { items });
  expect(await next.callTool("hello")).toBe("hello");
  const cpu = Number(await next.callTool("cpu")) - before;
  await attacker.close();
  await next.close();
  const [first] = content as { text?: string }[];
  return { isError, text: first?.text ?? "", cpu };
}

describe("wide arguments", () => {
  test.each(attacks.map((attack) => [attack.name, attack] as const))(
    "CVE-2026-111768: answers %s with a tool error, and then the next client",
    async (_, given) => {
      const { isError, text } = await attack(given);
      expect(isError).toBe(true);
      expect(text).toContain(given.says);
      expect(text.length).toBeLessThan(10_000);
      expect(server.isRunning).toBe(true);
    },
    timeout,
  );

  test(
    "CVE-2026-111768: checks 99,000 unique numbers in linear time",
    async () => {
      // Comparing each number with each other takes about 30 s of CPU time.
      expect((await attack(attacks.at(-1)!)).cpu).toBeLessThan(5000);
    },
    timeout,
  );

  test(
    "CVE-2026-111768: answers several attacks at the same time within a heap of 256 MiB",
    async () => {
      const answers = await Promise.all([...attacks, ...attacks].map(attack));
      expect(answers.map(({ isError }) => isError)).toEqual(answers.map(() => true));
      expect(server.isRunning).toBe(true);
    },
    timeout,
  );
});

describe("a hostile server's schema", () => {
  const outcomes: Record<string, string> = {
    pattern: "invalid_result",
    patternProperties: "returned",
    "4,900 alternatives": "invalid_result",
    uniqueItems: "invalid_result",
  };
  interface Ended {
    trap: string;
    next: string;
    /** CPU time. */
    seconds: number;
  }
  async function callIn(direction: "output" | "form", name: string, trap = outcomes[name]): Promise<void> {
    const { seconds, ...outcome } = (await runProgram("attacked-client", [direction, name])) as Ended;
    expect(outcome).toEqual({ trap, next: "hello" });
    expect(seconds).toBeLessThan(5);
  }

  test.each(Object.keys(hostileSchemas))(
    "CVE-2026-111768: an output schema with %s does not stop its client",
    (name) => callIn("output", name),
    timeout,
  );

  test.each(Object.keys(hostileSchemas))(
    "CVE-2026-111768: an elicitation form with %s does not stop its client",
    // A list of a form has choices. The client refuses others.
    (name) => callIn("form", name, name === "uniqueItems" ? "invalid_message" : outcomes[name]),
    timeout,
  );
});

describe("resource templates", () => {
  const long = 60_000;
  test.each([
    ["an exploded path", `list://x${"/a,a,a".repeat(long / 6)}`],
    ["an exploded path of one segment", `list://x/${"a,".repeat(long / 2)}`],
    ["an exploded path of slashes", `list://x${"/".repeat(long)}`],
    ["an exploded path of commas", `list://x/${",".repeat(long)}`],
    ["an exploded query", `query://x?tags=${"a,".repeat(long / 2)}`],
    ["reserved variables", `reserved://x${"/".repeat(long)}`],
    ["exploded labels", `labels://x${".".repeat(long)}`],
  ])(
    "CVE-2026-0621: matches a URI of 60 kB against %s in linear time",
    async (_, uri) => {
      // Modern revisions repeat the URI in a header, which HTTP servers limit to 16 kB.
      const client = await connect(server.firstLine, { revision: "2025-11-25" });
      const before = Number(await client.callTool("cpu"));
      const code = await client.readResource(uri).then(
        () => "found",
        (error: unknown) => (error as ProtocolError).code,
      );
      expect(code).toBe(-32002);
      const cpu = Number(await client.callTool("cpu")) - before;
      // The pattern of the advisory needs exponential time, and a quadratic scan some seconds.
      expect(cpu).toBeLessThan(2000);
      await client.close();
    },
    timeout,
  );
});
