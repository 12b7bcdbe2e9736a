import { memoryPair } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { exampleServer } from "./example-server.ts";
import { type Line, type Transcript, transcripts, withNames, withoutNames, write } from "./transcript.ts";

/** `UPDATE_TRANSCRIPTS=1` writes the files with the current messages of the server. Read the difference before you keep it. */
const updates = process.env.UPDATE_TRANSCRIPTS === "1";
const all = transcripts();

/** Runs a conversation, and returns it with the messages of the server. */
async function hold({ lines }: Transcript): Promise<Line[]> {
  const [client, theirs] = memoryPair();
  const known = new Map<string, unknown>();
  const held: Line[] = [];
  const inbox = new Inbox();
  await client.start({
    message: (message) => {
      held.push({ from: "<", message: withNames(JSON.parse(JSON.stringify(message)), known) });
      inbox.count();
    },
    malformed: () => {},
    closed: () => {},
  });
  await exampleServer().attach(theirs);
  let expected = 0;
  for (const { from, message } of lines) {
    if (from === "<") {
      expected++;
      continue;
    }
    await (updates ? quiet() : inbox.holds(expected));
    held.push({ from: ">", message });
    await client.send(withoutNames(message, known) as never);
  }
  await quiet();
  if (!updates) await inbox.holds(expected);
  await client.close();
  return held;
}

/** The number of received messages, and the waiting callers. */
class Inbox {
  #received = 0;
  #wake: () => void = () => {};

  count(): void {
    this.#received++;
    this.#wake();
  }

  async holds(expected: number): Promise<void> {
    while (this.#received < expected) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

/**
 * Waits until the server has finished all work that needs no further message. An update does not know the number of messages to wait for, so it waits for a fixed time.
 */
async function quiet(): Promise<void> {
  if (updates) await new Promise((resolve) => setTimeout(resolve, 100));
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("transcripts cover every revision", () => {
  const revisions = new Set(all.map(({ revision }) => revision));
  expect([...revisions]).toEqual(["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
  expect(all.length).toBeGreaterThan(30);
});

describe("the server sends exactly the messages of the transcript", () => {
  test.each(all)("$name", async (transcript) => {
    expect(transcript.guards.length).toBeGreaterThan(20);
    const lines = await hold(transcript);
    if (updates) write({ ...transcript, lines });
    else expect(lines.map(show)).toEqual(transcript.lines.map(show));
  });
});

function show({ from, message }: Line): string {
  return `${from} ${JSON.stringify(message)}`;
}
