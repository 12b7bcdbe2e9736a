import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

/** A file that is open in TypeScript's language server, as in an editor. */
export interface OpenFile {
  /** Returns the text that an editor shows for the last name in the first occurrence of `code`, without its docstring. */
  hover(code: string): Promise<string>;
  /** Ends the language server. */
  close(): Promise<void>;
}

/** Opens a file in a new language server. */
export async function openFile(file: string, text: string): Promise<OpenFile> {
  // The language server writes a cache.
  const home = await mkdtemp(path.join(tmpdir(), "language-server-"));
  const child = spawn(process.execPath, [tsc, "--lsp", "--stdio"], {
    env: { ...process.env, HOME: home, XDG_CACHE_HOME: home, LOCALAPPDATA: home },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting = new Map<number, (result: unknown) => void>();
  let id = 0;
  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const request = (method: string, params: unknown): Promise<any> =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      send({ id, method, params });
    });
  readMessages(child.stdout, (message) => {
    if (message.method === undefined) waiting.get(message.id ?? 0)?.(message.result);
    else if (message.id !== undefined) send({ id: message.id, result: null });
  });
  const uri = pathToFileURL(file).href;
  const hover = { contentFormat: ["plaintext"] };
  // Otherwise npm installs types, which can take longer than the test.
  const initializationOptions = { userPreferences: { disableAutomaticTypeAcquisition: true } };
  const capabilities = { textDocument: { hover } };
  await request("initialize", { processId: null, rootUri: null, capabilities, initializationOptions });
  send({ method: "initialized", params: {} });
  const textDocument = { uri, languageId: "typescript", version: 1, text };
  send({ method: "textDocument/didOpen", params: { textDocument } });
  return {
    async hover(code) {
      const before = text.slice(0, text.indexOf(code) + code.length - 1).split("\n");
      const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
      const result = await request("textDocument/hover", { textDocument: { uri }, position });
      return String(result?.contents?.value ?? "").trim();
    },
    async close() {
      await request("shutdown", null);
      const exited = once(child, "exit");
      send({ method: "exit" });
      child.stdin.end();
      await exited;
      await rm(home, { recursive: true });
    },
  };
}

interface Message {
  id?: number;
  method?: string;
  result?: unknown;
}

/** Reads messages of the Language Server Protocol: a header with the length, and a body of JSON. */
function readMessages(stream: NodeJS.ReadableStream, receive: (message: Message) => void): void {
  let unread = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    for (;;) {
      const end = unread.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/i.exec(unread.toString("utf8", 0, Math.max(0, end)))?.[1]);
      if (end < 0 || unread.length < end + 4 + length) return;
      receive(JSON.parse(unread.toString("utf8", end + 4, end + 4 + length)) as Message);
      unread = unread.subarray(end + 4 + length);
    }
  });
}
