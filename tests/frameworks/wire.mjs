// @ts-check
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { connect as connectHttp2, constants } from "node:http2";
import { Readable } from "node:stream";

/**
 * @typedef {{ method?: string; headers?: Record<string, string>; body?: string | undefined }} Init
 * @typedef {{ status: number; headers: Record<string, string | string[] | undefined>; text: string }} Answer
 *
 * @typedef {object} Wire sends requests to a program
 * @property {(path: string, init: Init) => Promise<Answer>} send sends one request with any header, and reads its response
 * @property {(path: string, init: Init) => Promise<number>} announce sends the head of a request, with the length of its body and not the body; returns the status
 * @property {(path: string, init: Init) => Promise<() => void>} start sends a request, and waits for the first part of its body; returns a function that disconnects
 * @property {typeof fetch | undefined} fetch for the client; undefined for the default one
 * @property {() => void} close
 */

/** Sends requests over HTTP/1.1. @param {string} origin @returns {Wire} */
export function overHttp1(origin) {
  const agent = new Agent({ keepAlive: true });
  return {
    fetch: undefined,
    close: () => agent.destroy(),
    async announce(path, { headers = {}, body = "" }) {
      const length = { "content-length": String(Buffer.byteLength(body)) };
      const request = httpRequest(new URL(path, origin), { method: "POST", headers: { ...headers, ...length } });
      request.flushHeaders();
      try {
        const [response] = await once(request, "response");
        return response.statusCode;
      } finally {
        request.on("error", () => {}).destroy();
      }
    },
    async start(path, { headers = {}, body }) {
      const request = httpRequest(new URL(path, origin), { method: "POST", headers });
      request.end(body);
      const [response] = await once(request, "response");
      await once(response, "data");
      return () => void response.on("error", () => {}).destroy();
    },
    async send(path, { method = "POST", headers = {}, body }) {
      const request = httpRequest(new URL(path, origin), { method, headers, agent });
      const failed = new Promise((_resolve, reject) => request.on("error", reject));
      // Node has no listener of its own while the rest of a body is sent after the response.
      request.once("socket", (socket) => void (request.reusedSocket || socket.on("error", () => {})));
      const responded = once(request, "response");
      request.end(body);
      const [response] = await Promise.race([responded, failed]);
      const text = await textOf(response, failed);
      return { status: response.statusCode, headers: response.headers, text };
    },
  };
}

/** Sends requests over one connection of HTTP/2. @param {string} origin @param {string} ca @returns {Wire} */
export function overHttp2(origin, ca) {
  const session = connectHttp2(origin, { ca });
  session.on("error", () => {});
  /** @param {string} path @param {Init} init */
  const open = async (path, { method = "POST", headers = {}, body }) => {
    const { host, connection: _, ...others } = headers;
    const authority = host === undefined ? {} : { ":authority": host };
    const stream = session.request({ ":method": method, ":path": path, ...authority, ...others });
    stream.end(body);
    const [received] = await once(stream, "response");
    return { stream, received };
  };
  return {
    close: () => session.destroy(),
    async start(path, init) {
      const { stream } = await open(path, init);
      await once(stream, "data");
      return () => stream.close(constants.NGHTTP2_CANCEL);
    },
    async announce(path, init) {
      const { stream, received } = await open(path, init);
      stream.close();
      return Number(received[":status"]);
    },
    async send(path, init) {
      const { stream, received } = await open(path, init);
      return { status: Number(received[":status"]), headers: received, text: await textOf(stream) };
    },
    async fetch(input, init = {}) {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      const headers = Object.fromEntries(new Headers(init.headers));
      const body = typeof init.body === "string" ? init.body : undefined;
      const { stream, received } = await open(pathname + search, { method: init.method ?? "GET", headers, body });
      init.signal?.addEventListener("abort", () => stream.close(constants.NGHTTP2_CANCEL));
      const status = Number(received[":status"]);
      const known = Object.entries(received).filter(([name]) => !name.startsWith(":"));
      const content = /** @type {ReadableStream<Uint8Array>} */ (/** @type {unknown} */ (Readable.toWeb(stream)));
      return new Response(status === 204 ? null : content, {
        status,
        headers: /** @type {[string, string][]} */ (known),
      });
    },
  };
}

/** @param {Readable} stream @param {Promise<unknown>} [failed] */
async function textOf(stream, failed) {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  await (failed ? Promise.race([once(stream, "end"), failed]) : once(stream, "close"));
  return text;
}
