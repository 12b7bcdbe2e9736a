import { expect, test } from "vitest";
import { ArrivingBody } from "./reply-body.ts";

/** Returns a body, and the names of the functions of its source that were called. */
function arriving(length = 0): { body: ArrivingBody; calls: string[] } {
  const calls: string[] = [];
  const source = {
    pause: () => void calls.push("pause"),
    resume: () => void calls.push("resume"),
    cancel: () => void calls.push("cancel"),
  };
  return { body: new ArrivingBody(source, length), calls };
}

function push(body: ArrivingBody, bytes: Buffer, size: number): void {
  for (let start = 0; start < bytes.length; start += size) body.push(bytes.subarray(start, start + size));
}

// Characters of one to four bytes, so that parts end within characters.
const text = "aä€😀".repeat(30_000);

test.each([
  ["as announced", Buffer.byteLength(text)],
  ["longer than announced", 70_000],
  ["without an announced length", 0],
])("a long text in parts of any size is read as a whole: %s", async (_what, length) => {
  for (const size of [999, 65_535, 65_537, 1_000_000]) {
    const { body } = arriving(length);
    const reading = body.text();
    push(body, Buffer.from(text), size);
    body.end();
    expect(await reading).toBe(text);
  }
});

test("a text whose parts arrived before it is read is the same", async () => {
  const { body, calls } = arriving();
  push(body, Buffer.from(text), 50_000);
  expect(calls).toEqual(["pause"]);
  const reading = body.text();
  body.push(Buffer.from("end"));
  body.end();
  expect(await reading).toBe(`${text}end`);
  expect(calls).toEqual(["pause", "resume"]);
});

test.each([65_535, 65_536, 65_537])("a byte order mark before a text of %i bytes is omitted", async (size) => {
  const { body } = arriving(size);
  const reading = body.text();
  push(body, Buffer.from(`\uFEFF${"x".repeat(size - 3)}`), 10_000);
  body.end();
  expect(await reading).toBe("x".repeat(size - 3));
});

test("a long text that breaks off rejects with the error of the connection", async () => {
  const { body } = arriving(1_000_000);
  const reading = body.text();
  push(body, Buffer.alloc(500_000, "x"), 65_536);
  body.end(new Error("The connection was lost."));
  await expect(reading).rejects.toThrow("The connection was lost.");
});

test("an abort in the middle of a long text rejects with its reason, and later parts are dropped", async () => {
  const { body } = arriving(1_000_000);
  const reading = body.text();
  push(body, Buffer.alloc(500_000, "x"), 65_536);
  body.abort(new Error("aborted"));
  body.push(Buffer.alloc(500_000, "x"));
  await expect(reading).rejects.toThrow("aborted");
});
