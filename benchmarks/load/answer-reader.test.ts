import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AnswerReader } from "./answer-reader.mjs";

const plain = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"id":1000000';
const chunked =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
  '6\r\ndata: \r\nA;x=1\r\n{"a":"\\n"}\r\n2\r\n\n\n\r\n0\r\nTrailer: x\r\n\r\n';

function read(answer: string, cuts: number[] = []) {
  const bytes = Buffer.from(answer);
  const reader = new AnswerReader();
  const places = [0, ...cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b), bytes.length];
  const answers = places.slice(1).map((end, index) => reader.push(bytes.subarray(places[index], end)));
  return answers.filter((one) => one !== undefined).map(({ status, body }) => ({ status, body: body.toString() }));
}

test.each([
  ["with a length", plain, '{"id":1000000'],
  ["in chunks", chunked, 'data: {"a":"\\n"}\n\n'],
  ["without a body", "HTTP/1.1 202 Accepted\r\nDate: x\r\n\r\n", ""],
])("an answer %s is read whole, however it is cut", (_, answer, body) => {
  const status = Number(answer.slice(9, 12));
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 8 }), (cuts) => {
      expect(read(answer, cuts)).toEqual([{ status, body }]);
    }),
    { numRuns: 200 },
  );
});

test("one answer follows another on the same connection", () => {
  const reader = new AnswerReader();
  for (let time = 0; time < 3; time++) {
    expect(reader.push(Buffer.from(plain))?.body.length).toBe(13);
    expect(reader.push(Buffer.from(chunked))?.body.length).toBe(18);
  }
});

describe("what is no answer to one request is refused", () => {
  test.each([
    ["more than was asked", plain + plain, "More was answered"],
    ["another protocol", "SSH-2.0-OpenSSH\r\n\r\n", 'No answer begins with "SSH'],
    ["an answer of unknown length", "HTTP/1.1 200 OK\r\n\r\n", "does not say how long"],
    ["a chunk longer than it says", chunked.replace("6\r\n", "5\r\n"), "longer than it says"],
    ["a size that is none", chunked.replace("6\r\n", "x\r\n"), "no size of a chunk"],
  ])("%s", (_, answer, message) => {
    expect(() => read(answer)).toThrow(message);
  });
});
