import { expect, test } from "vitest";
import { success } from "../rpc/messages.ts";
import { LineWriter } from "./line-writer.ts";

const slice = 262_144;

/** An output whose reader reads only when `read` is called. */
function slowOutput(): {
  written: string[];
  largest: () => number;
  read: () => Promise<void>;
  output: ConstructorParameters<typeof LineWriter>[0];
} {
  const written: string[] = [];
  let unread = 0;
  let largest = 0;
  let onDrain = (): void => {};
  const output = {
    get writableLength() {
      return unread;
    },
    write(text: string, done?: () => void) {
      written.push(text);
      unread += Buffer.byteLength(text);
      largest = Math.max(largest, unread);
      done?.();
      return unread === 0;
    },
    once: (_event: "drain", listener: () => void) => (onDrain = listener),
  };
  const read = async (): Promise<void> => {
    unread = 0;
    onDrain();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { written, largest: () => largest, read, output };
}

const reply = (id: number, blob: string): ReturnType<typeof success> =>
  success(id, { contents: [{ uri: "a:b", blob }] });

test("a large reply is written in slices, each after the peer has read the one before", async () => {
  const { written, largest, read, output } = slowOutput();
  const writer = new LineWriter(output, Infinity, () => {});
  const message = reply(1, "QUJD".repeat(200_000));
  void writer.send(message);
  void writer.send(reply(2, "AAAA"));
  while (written.join("").split("\n").length < 3) await read();
  expect(written.join("")).toBe(`${JSON.stringify(message)}\n${JSON.stringify(reply(2, "AAAA"))}\n`);
  expect(largest()).toBeLessThanOrEqual(slice);
});

test("characters of two units are whole in each slice", async () => {
  const { written, read, output } = slowOutput();
  const writer = new LineWriter(output, Infinity, () => {});
  const message = reply(1, `x${"😀".repeat(slice)}`);
  void writer.send(message);
  while (!written.join("").endsWith("\n")) await read();
  expect(Buffer.concat(written.map((text) => Buffer.from(text))).toString()).toBe(`${JSON.stringify(message)}\n`);
});

test("a reply larger than the limit of unread bytes is sent, and others may wait behind it up to the limit", async () => {
  const { written, read, output } = slowOutput();
  const stuck: string[] = [];
  const writer = new LineWriter(output, 2 * slice, ({ message }) => stuck.push(message));
  void writer.send(reply(1, "A".repeat(8 * slice)));
  // Half of the limit is in the output.
  void writer.send(reply(2, "B".repeat(slice / 2)));
  expect(stuck).toEqual([]);
  while (!written.join("").includes('"id":2')) await read();
  expect(stuck).toEqual([]);
});

test("a reply that exceeds the limit behind a larger one closes the connection", async () => {
  const { output } = slowOutput();
  const stuck: string[] = [];
  const writer = new LineWriter(output, 2 * slice, ({ message }) => stuck.push(message));
  void writer.send(reply(1, "A".repeat(8 * slice)));
  await expect(writer.send(reply(2, "B".repeat(slice)))).rejects.toThrow("maxUnreadBytes");
  expect(stuck).toHaveLength(1);
});

test("messages that wait while the peer reads slowly count for the limit until they are written", async () => {
  const { read, output } = slowOutput();
  const stuck: string[] = [];
  const writer = new LineWriter(output, 4 * slice, ({ message }) => stuck.push(message));
  void writer.send(reply(1, "A".repeat(2 * slice)));
  void writer.send(reply(2, "B".repeat(2 * slice)));
  await read();
  await read();
  await read();
  // The first reply is read; a part of the second is written.
  await expect(writer.send(reply(3, "C".repeat(3 * slice)))).rejects.toThrow("does not read");
  expect(stuck).toHaveLength(1);
});
