// @ts-check

const dataField = Buffer.from("data:");
const lineFeed = 10;
const space = 32;

/** The message in the body of an answer: the body, or the data of the last event of a stream. @param {Buffer} body */
export function payloadOf(body) {
  const first = body[0];
  // A message is an object. Anything else is a stream of events.
  if (first === 123) return body;
  const at = lastData(body);
  if (at === -1) throw new Error(`There is no message in "${body.toString("utf8", 0, 80)}".`);
  const start = body[at + dataField.length] === space ? at + dataField.length + 1 : at + dataField.length;
  const end = body.indexOf(lineFeed, start);
  const stop = end === -1 ? body.length : end;
  return body.subarray(start, body[stop - 1] === 13 ? stop - 1 : stop);
}

/** Returns the start of the last `data` field that is not empty. @param {Buffer} body */
function lastData(body) {
  for (let at = body.lastIndexOf(dataField); at !== -1; at = at === 0 ? -1 : body.lastIndexOf(dataField, at - 1)) {
    const isField = at === 0 || body[at - 1] === lineFeed;
    const isFull = body.subarray(at + 5, at + 8).includes(123);
    if (isField && isFull) return at;
  }
  return -1;
}
