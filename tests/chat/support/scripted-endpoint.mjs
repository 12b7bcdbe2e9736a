// @ts-check
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/** @import { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http" */

/**
 * A request for an answer of the model.
 *
 * @typedef {object} ModelRequest
 * @property {number} number from 1
 * @property {IncomingHttpHeaders} headers
 * @property {Readonly<Record<string, unknown>>} body the whole body
 * @property {readonly any[]} messages the messages, in the format of the endpoint
 * @property {readonly string[]} tools the names of the offered tools
 * @property {Promise<void>} disconnected settles if the client closes the connection before the end of the answer
 */

/**
 * A part of an answer: text, a call of a tool, or a promise that holds the stream open until it settles.
 *
 * @typedef {string | ToolCall | Promise<unknown>} AnswerPart
 * @typedef {{ readonly tool: string, readonly arguments: string, readonly id?: string | undefined }} ToolCall
 */

/**
 * An answer of the model, or an error of the endpoint.
 *
 * @typedef {ModelText | ModelFailure} ModelAnswer
 * @typedef {object} ModelText
 * @property {Iterable<AnswerPart> | AsyncIterable<string | ToolCall>} parts sent one after the other, each text as one chunk
 * @property {readonly [input: number, output: number] | undefined} [usage] the tokens; without it, the endpoint does not report them
 * @property {string | undefined} [finish] the reason of the end; default: `tool_calls` after a call, otherwise `stop`
 *
 * @typedef {{ readonly status: number, readonly message: string, readonly headers?: Readonly<Record<string, string>> }} ModelFailure
 */

/**
 * The answers one after the other, or a function that returns each of them.
 *
 * @typedef {readonly ScriptedAnswer[] | AnswerFunction} ModelScript
 * @typedef {ModelAnswer | AnswerFunction} ScriptedAnswer
 * @typedef {(request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>} AnswerFunction
 */

/** Returns an answer of texts, tool calls and promises that hold it. @param {...AnswerPart} parts @returns {ModelText} */
export function say(...parts) {
  return { parts, usage: [100, 20] };
}

/**
 * Returns a call of a tool, as a part of an answer. Arguments that are a text are sent as they are, also if they are not JSON.
 *
 * @param {string} tool @param {object | string} [given] @param {string} [id] @returns {ToolCall}
 */
export function toolCall(tool, given = {}, id) {
  return { tool, arguments: typeof given === "string" ? given : JSON.stringify(given), id };
}

/** Returns an error of the endpoint. @param {number} status @param {string} message @returns {ModelFailure} */
export function failWith(status, message) {
  return { status, message };
}

/** Returns a promise that holds an answer, and the function that settles it. */
export function hold() {
  /** @type {() => void} */
  let release = () => {};
  /** @type {Promise<void>} */
  const held = new Promise((resolve) => (release = resolve));
  return { held, release };
}

/**
 * An endpoint on loopback that answers `POST /v1/chat/completions` by a script, as a stream or as one document.
 *
 * @typedef {object} ScriptedEndpoint
 * @property {string} url the base URL, which ends with `/v1`
 * @property {readonly ModelRequest[]} requests the received requests; the last 1,000 if there are more
 * @property {(number: number) => Promise<ModelRequest>} received settles with the request of this number when it has arrived
 * @property {() => Promise<void>} close
 */

/** The requests that are kept. */
const kept = 1_000;

/** Starts an endpoint. @param {ModelScript} script @returns {Promise<ScriptedEndpoint>} */
export async function startEndpoint(script) {
  /** @type {ModelRequest[]} */
  const requests = [];
  /** @type {Map<number, (request: ModelRequest) => void>} */
  const waiting = new Map();
  let count = 0;
  const server = createServer((incoming, response) => {
    void readRequest(incoming, response).then(async (read) => {
      if (!read) return sendFailure(response, failWith(404, `${incoming.method} ${incoming.url} does not exist.`));
      const request = { number: ++count, ...read };
      requests.push(request);
      if (requests.length > kept) requests.shift();
      waiting.get(count)?.(request);
      const answer = await answerOf(script, request);
      if (!("parts" in answer)) return sendFailure(response, answer);
      return request.body["stream"] === true ? stream(response, request, answer) : send(response, request, answer);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The endpoint has no port.");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests,
    received: (number) =>
      new Promise((resolve) => {
        const request = requests.find((one) => one.number === number);
        if (request) resolve(request);
        else waiting.set(number, resolve);
      }),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** @param {IncomingMessage} incoming @param {ServerResponse} response @returns {Promise<Omit<ModelRequest, "number"> | undefined>} */
async function readRequest(incoming, response) {
  const written = await text(incoming);
  if (incoming.method !== "POST" || incoming.url !== "/v1/chat/completions") return undefined;
  const body = JSON.parse(written);
  /** @type {Promise<void>} */
  const disconnected = new Promise((resolve) => {
    response.once("close", () => void (response.writableFinished || resolve()));
  });
  /** @type {{ function: { name: string } }[]} */
  const tools = body.tools ?? [];
  const names = tools.map((tool) => tool.function.name);
  return { headers: incoming.headers, body, messages: body.messages, tools: names, disconnected };
}

/** @param {ModelScript} script @param {ModelRequest} request */
async function answerOf(script, request) {
  const scripted = typeof script === "function" ? script : script[request.number - 1];
  if (scripted === undefined) return failWith(500, `The script has no answer ${request.number}.`);
  try {
    return typeof scripted === "function" ? await scripted(request) : scripted;
  } catch (error) {
    return failWith(500, `The script failed: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {ServerResponse} response @param {ModelFailure} failure */
function sendFailure(response, { status, message, headers = {} }) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ error: { message, type: "error", code: String(status) } }));
}

/** @param {ServerResponse} response @param {ModelRequest} request @param {ModelText} answer */
async function stream(response, request, answer) {
  const write = (/** @type {object} */ members) =>
    response.write(`data: ${JSON.stringify({ ...headOf(request), object: "chat.completion.chunk", ...members })}\n\n`);
  const choice = (/** @type {object} */ delta, finish_reason = /** @type {string | null} */ (null)) =>
    write({ choices: [{ index: 0, delta, finish_reason }] });
  response.writeHead(200, { "content-type": "text/event-stream" });
  choice({ role: "assistant", content: "" });
  let calls = 0;
  for await (const part of sentParts(answer, request)) {
    if (typeof part === "string") choice({ content: part });
    else choice({ tool_calls: [{ index: calls, ...callOf(part, request, ++calls) }] });
  }
  if (response.destroyed) return;
  choice({}, answer.finish ?? (calls > 0 ? "tool_calls" : "stop"));
  if (answer.usage) write({ choices: [], usage: usageOf(answer.usage) });
  response.end("data: [DONE]\n\n");
}

/** @param {ServerResponse} response @param {ModelRequest} request @param {ModelText} answer */
async function send(response, request, answer) {
  let content = "";
  /** @type {object[]} */
  const calls = [];
  for await (const part of sentParts(answer, request)) {
    if (typeof part === "string") content += part;
    else calls.push(callOf(part, request, calls.length + 1));
  }
  const message = { role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) };
  const finish_reason = answer.finish ?? (calls.length > 0 ? "tool_calls" : "stop");
  const usage = answer.usage && { usage: usageOf(answer.usage) };
  response.writeHead(200, { "content-type": "application/json" });
  const choices = [{ index: 0, message, finish_reason }];
  response.end(JSON.stringify({ ...headOf(request), object: "chat.completion", choices, ...usage }));
}

/** Returns the parts of an answer until the client disconnects. @param {ModelText} answer @param {ModelRequest} request */
async function* sentParts({ parts }, { disconnected }) {
  let isOpen = true;
  const closed = disconnected.then(() => (isOpen = false));
  for await (const part of heldParts(parts)) {
    const isWait = typeof part === "object" && "wait" in part;
    if (isWait) await Promise.race([part.wait, closed]);
    if (!isOpen) return;
    if (!isWait) yield part;
  }
}

/** Wraps the promises, which `for await` would otherwise wait for. @param {ModelText["parts"]} parts */
async function* heldParts(parts) {
  const wrap = (/** @type {AnswerPart} */ part) => (part instanceof Promise ? { wait: part } : part);
  if (Symbol.asyncIterator in parts) {
    for await (const part of parts) yield wrap(part);
  } else {
    for (const part of parts) yield wrap(part);
  }
}

/** @param {ModelRequest} request */
function headOf({ number, body }) {
  return { id: `answer-${number}`, created: 1, model: body["model"] };
}

/** @param {ToolCall} call @param {ModelRequest} request @param {number} position */
function callOf({ tool, arguments: given, id }, { number }, position) {
  return { id: id ?? `call-${number}-${position}`, type: "function", function: { name: tool, arguments: given } };
}

/** @param {readonly [number, number]} usage */
function usageOf([input, output]) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
