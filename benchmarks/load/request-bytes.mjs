// @ts-check

/** @import { LoadJob, Operation } from "../types.ts" */

/** Ids have this many digits, so that a request can be sent again with the next id and the same length. */
export const firstId = 1_000_000;
const idDigits = 7;
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "load", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

export const modernRevision = "2026-07-28";

/** A message whose id can be replaced. */
export class Numbered {
  #id = firstId;
  #at;

  /** @param {Buffer} bytes in which the first id is, once @param {number} [id] */
  constructor(bytes, id = firstId) {
    this.bytes = bytes;
    this.#at = bytes.indexOf(`"id":${firstId}`) + 5;
    if (this.#at === 4) throw new Error("The message has no id.");
    if (id !== firstId) this.become(id);
  }

  get id() {
    return this.#id;
  }

  /** The id in another message that is the same but for it. @param {Buffer} bytes */
  idIn(bytes) {
    return Number(bytes.toString("latin1", this.#at, this.#at + idDigits));
  }

  /** Changes the id in place. @param {number} id */
  become(id) {
    this.#id = id;
    let rest = id;
    for (let place = this.#at + idDigits - 1; place >= this.#at; place--) {
      this.bytes[place] = 48 + (rest % 10);
      rest = (rest - (rest % 10)) / 10;
    }
  }
}

/** The message of an operation, as the client of a revision writes it. @param {Operation} operation @param {string} revision */
export function messageOf({ method, params }, revision) {
  const all = revision === modernRevision ? { ...params, _meta: meta } : params;
  return JSON.stringify({ jsonrpc: "2.0", id: firstId, method, params: all });
}

/** A POST of a message. @param {LoadJob} job @param {string} message @param {Readonly<Record<string, string>>} [more] */
export function post({ port, accept, revision }, message, more = {}) {
  const headers = {
    host: `127.0.0.1:${port}`,
    "content-type": "application/json",
    accept,
    "mcp-protocol-version": revision,
    ...more,
    "content-length": String(Buffer.byteLength(message)),
  };
  return Buffer.from(`POST /mcp HTTP/1.1\r\n${lines(headers)}\r\n\r\n${message}`);
}

/** Returns the additional headers of a modern request. @param {Operation} operation @returns {Record<string, string>} */
export function modernHeaders({ method, mirrored }) {
  return { "mcp-method": method, ...(mirrored !== undefined && { "mcp-name": mirrored }) };
}

/** @param {Readonly<Record<string, string>>} headers */
export function lines(headers) {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\r\n");
}
