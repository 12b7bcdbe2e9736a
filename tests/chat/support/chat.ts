import { type ModelScript, type ScriptedEndpoint } from "./scripted-endpoint.mjs";
import { openModelEndpoint } from "./model-endpoint.ts";
import { type Terminal, openTerminal } from "./terminal.ts";
import { type HttpTestServer, type StdioTestServer, stdioTestServer } from "./test-server.ts";

interface ChatOptions extends Omit<Parameters<typeof openTerminal>[0], "command"> {
  /** The server. Default: the test server on stdio, with the name `server`. Null: only those of `args`. */
  readonly server?: StdioTestServer | HttpTestServer | null;
  /** The answers of the model. Without them, the chat has no model. */
  readonly script?: ModelScript;
  /** Whether to wait until the servers are connected. Default: true. */
  readonly waits?: boolean;
}

/** A chat in a pseudo-terminal, with its server and its model. */
export interface Chat {
  readonly terminal: Terminal;
  /** The endpoint of the model. It has no requests if there is no `script`. */
  readonly requests: ScriptedEndpoint["requests"];
  /** Settles with the request of this number when the endpoint has received it. */
  readonly received: ScriptedEndpoint["received"];
  /** Waits for the empty input of the chat, pastes a text, and presses Enter. */
  readonly send: (text: string) => Promise<void>;
  /** Waits for an empty question that ends with a prompt, pastes the answer, and presses Enter. */
  readonly answer: (prompt: string, text: string) => Promise<void>;
  /** Waits for a text and for the input, and empties it: a message that could not be sent is in it, and a command is not. */
  readonly refused: (reason: string | RegExp) => Promise<string>;
  /** Waits for the empty input of the chat. */
  readonly idle: () => Promise<string>;
  /** Leaves with Ctrl-D, and returns the exit code. */
  readonly leave: () => Promise<number | undefined>;
}

/** Starts `mcparley chat` with a server and a model, and waits until the server is connected. */
export async function openChat(options: ChatOptions = {}): Promise<Chat> {
  const { server = stdioTestServer(), script, args = [], waits = true, columns = 100, rows = 40, ...others } = options;
  const endpoint = script && (await openModelEndpoint(script));
  const model = endpoint ? ["--model", "small", "--base-url", endpoint.url] : [];
  const terminal = openTerminal({
    ...others,
    args: ["chat", ...model, ...args, ...targetOf(server)],
    columns,
    rows,
  });
  if (waits) await terminal.waitFor(/([1-9]) of \1 servers connected/);
  return chatOn(terminal, endpoint);
}

/** Returns the functions of a chat for a terminal. */
function chatOn(terminal: Terminal, endpoint: ScriptedEndpoint | undefined): Chat {
  const submit = async (prompt: string, text: string): Promise<void> => {
    // The cursor is hidden while a question takes no keys.
    await terminal.waitFor(() => terminal.isCursorVisible() && questionOf(terminal).endsWith(prompt));
    terminal.paste(text);
    // Otherwise the next wait could find the present prompt.
    await terminal.waitFor(() => !questionOf(terminal).endsWith(prompt));
    terminal.key("enter");
  };
  const idle = (): Promise<string> => terminal.waitFor(() => atCursor(terminal) === ">");
  return {
    terminal,
    requests: endpoint?.requests ?? [],
    received: (number) => (endpoint ? endpoint.received(number) : Promise.reject(new Error("The chat has no model."))),
    idle,
    send: async (text) => {
      await idle();
      await submit(">", text);
    },
    answer: (prompt, text) => submit(prompt.trimEnd(), text),
    refused: async (reason) => {
      await terminal.waitFor(reason);
      const screen = await terminal.waitFor(() => atCursor(terminal).startsWith(">"));
      if (atCursor(terminal) !== ">") terminal.key("ctrl-c");
      await idle();
      return screen;
    },
    leave: async () => {
      await idle();
      terminal.key("ctrl-d");
      return (await terminal.exit).code;
    },
  };
}

/** Returns the words of the command line for a server. */
export function targetOf(server: StdioTestServer | HttpTestServer | null): readonly string[] {
  if (server === null) return [];
  return "url" in server ? [server.url] : ["--", ...server.command];
}

/** Returns the text on the row of the cursor, without spaces at its end. */
function atCursor(terminal: Terminal): string {
  return terminal.cursor().line.trimEnd();
}

/** Returns the question before the cursor. A long one stands on the rows above. */
function questionOf(terminal: Terminal): string {
  const line = atCursor(terminal);
  if (line !== "") return line;
  const { row } = terminal.cursor();
  return row === 0 ? "" : (terminal.screen().split("\n")[row - 1] ?? "");
}
