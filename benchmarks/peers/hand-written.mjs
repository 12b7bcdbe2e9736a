// @ts-check
import { StringDecoder } from "node:string_decoder";

/*
 * The part of a client without a library that does not depend on how requests are sent. It imports no package and no file,
 * because it is copied into the folder of the peers.
 */

/** @typedef {Readonly<Record<string, string>>} Headers */

/** @typedef {{ jsonrpc: "2.0", id?: unknown, result?: any, error?: unknown }} Message */

const modernRevision = "2026-07-28";

/** The `_meta` that each request of 2026-07-28 must have. */
const meta = {
  "io.modelcontextprotocol/protocolVersion": modernRevision,
  "io.modelcontextprotocol/clientInfo": { name: "floor", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/**
 * Returns a client whose requests have the required members and headers of its revision only.
 *
 * @param {string} revision
 * @param {(json: string, headers: Headers) => Promise<Message>} send sends a request, and resolves with the response
 */
export function handWritten(revision, send) {
  let lastId = 0;
  const isModern = revision === modernRevision;

  /** @param {string} method @param {object} params @param {string} [name] the value of `mcp-name` */
  async function request(method, params, name) {
    const id = ++lastId;
    const json = JSON.stringify({ jsonrpc: "2.0", id, method, params: isModern ? { ...params, _meta: meta } : params });
    const response = await send(json, headersOf(method, name));
    if (response.id !== id || response.result === undefined) {
      throw new Error(`This is not a result of request ${id}: ${JSON.stringify(response).slice(0, 300)}`);
    }
    return response.result;
  }

  /** @param {string} method @param {string | undefined} name @returns {Headers} */
  function headersOf(method, name) {
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": revision,
    };
    if (!isModern) return headers;
    if (name === undefined) return { ...headers, "mcp-method": method };
    return { ...headers, "mcp-method": method, "mcp-name": name };
  }

  return {
    /** @param {string} text @returns {Promise<string>} */
    async echo(text) {
      const { content } = await request("tools/call", { name: "echo", arguments: { text } }, "echo");
      return content[0].text;
    },
    /** @returns {Promise<{ name: string }[]>} */
    async listTools() {
      return (await request("tools/list", {})).tools;
    },
  };
}

/** Returns a reader of the body of a response, which gets the body in parts. @param {number} status @param {unknown} contentType */
export function bodyReader(status, contentType) {
  return eventReader(status, contentType) ?? new JsonReader();
}

/** Returns a reader of the body of a response if it is an event stream. @param {number} status @param {unknown} contentType */
export function eventReader(status, contentType) {
  if (status !== 200) throw new Error(`The server answered with status ${status}.`);
  return String(contentType).startsWith("text/event-stream") ? new EventReader() : undefined;
}

class JsonReader {
  /** @type {Buffer[]} */
  #chunks = [];

  /** @param {Buffer} chunk */
  write(chunk) {
    this.#chunks.push(chunk);
  }

  /** Returns the response. @returns {Message} */
  end() {
    const [first, ...rest] = this.#chunks;
    if (!first) throw new Error("The response has no body.");
    return JSON.parse((rest.length === 0 ? first : Buffer.concat(this.#chunks)).toString());
  }
}

/** Reads an event stream up to its end. The last message that is no notification or request is the response. */
class EventReader {
  #decoder = new StringDecoder("utf8");
  #rest = "";
  #data = "";
  /** @type {Message | undefined} */
  #response;

  /** @param {Uint8Array} chunk */
  write(chunk) {
    const text = this.#rest + this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#line(text.slice(start, text[end - 1] === "\r" ? end - 1 : end));
      start = end + 1;
    }
    this.#rest = text.slice(start);
  }

  /** @param {string} line */
  #line(line) {
    if (line.startsWith("data:")) this.#data += (this.#data && "\n") + line.slice(line[5] === " " ? 6 : 5);
    if (line !== "" || this.#data === "") return;
    const message = JSON.parse(this.#data);
    this.#data = "";
    if (message.method === undefined) this.#response = message;
  }

  /** Returns the response. @returns {Message} */
  end() {
    if (!this.#response) throw new Error("The event stream ended without a response.");
    return this.#response;
  }
}
