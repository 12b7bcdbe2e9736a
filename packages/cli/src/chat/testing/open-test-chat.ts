import type { LanguageModel, ServerEntry } from "@mcparley/host";
import { onTestFinished } from "vitest";
import type { CommandIo } from "../../terminal/io.ts";
import { Screen } from "../../terminal/screen.ts";
import { readChat } from "../../commands/testing/read-command.ts";
import { type FakeIo, type FakeOptions, fakeIo } from "../../commands/testing/fake-io.ts";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { ChatHistory } from "../history/stored-chats.ts";
import { runInteractive } from "../interactive.ts";
import { serverOutputs } from "../servers/server-outputs.ts";
import { type EmulatedTerminal, emulatedTerminal, keys } from "../../terminal/testing/emulated-terminal.ts";

/** The parts of a chat under test. */
export interface TestChatOptions {
  /** The servers by name. Default: none. */
  readonly servers?: Readonly<Record<string, ServerEntry>>;
  /** Default: none, a chat without a model. */
  readonly model?: LanguageModel | undefined;
  /** Options of the command line. Default: none. */
  readonly argv?: readonly string[];
  /** The home folder, for a second chat of the same user. Default: a new one. */
  readonly home?: string;
  /** The words of the command line that are stored with the conversation. Default: none. */
  readonly targets?: readonly string[];
}

interface Size {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
  /** Default: calls at once. */
  readonly schedule?: CommandIo["schedule"];
}

/** A chat in an emulated terminal. */
export type TestChat = Awaited<ReturnType<typeof openTestChat>>;

/** Opens a chat in an emulated terminal of 160 columns and 60 rows. It is closed when the test has finished. */
export async function openTestChat(options: TestChatOptions & Size = {}) {
  const { columns = 160, rows = 60, env = {}, schedule } = options;
  const home = options.home ?? (await temporaryFolder());
  const screen = emulatedTerminal({
    columns,
    rows,
    env: { NO_COLOR: "1", ...env, HOME: home },
    ...(schedule && { schedule }),
  });
  const terminations = new Set<() => void>();
  const exit = startChat({ ...screen.io, cwd: home }, options, terminations);
  // A test that expects a failure awaits it later.
  exit.catch(() => {});
  const text = async (): Promise<string> => (await screen.allLines()).join("\n");

  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") console.error(await text());
  });

  const { submit, ...waiting } = inputOf(screen);
  const { idle, waitForQuestion } = waiting;
  return {
    screen,
    /** The home folder, which is also the current folder. */
    home,
    /** Resolves with the exit code. */
    exit,
    /** Returns all lines, with those that have scrolled out of view. */
    text,
    ...waiting,
    /** Sends keys in one chunk. */
    press: (input: string) => screen.press(input),
    /** Ends the chat as the signal SIGTERM does. */
    terminate: () => terminations.forEach((terminate) => terminate()),
    /** Waits for the message input, and submits a text. */
    async type(input: string): Promise<void> {
      await idle();
      submit(input);
    },
    /** Waits for a question whose last line contains a text, and submits an answer. */
    async answer(question: string, input: string): Promise<void> {
      await waitForQuestion(question);
      submit(input);
    },
    /** Submits a text that is refused with a message. A message stays in the input, and is then deleted. */
    async expectRefusal(input: string, message: string): Promise<void> {
      await idle();
      const occurrences = (await text()).split(message).length;
      submit(input);
      await screen.waitUntil(
        (lines) =>
          lines.join("\n").split(message).length > occurrences &&
          lines.at(-1) === (input.startsWith("/") ? ">" : `> ${input}`),
      );
      if (!input.startsWith("/")) screen.press(keys.ctrlC);
      await idle();
    },
    /** Resolves when the input of messages is open and empty, and the resources of a server can be attached. */
    async ready(server: string): Promise<void> {
      await idle();
      screen.press("@");
      await screen.waitUntil((lines) => lines.some((line) => line.slice(2).startsWith(`${server}:`)));
      screen.press(keys.backspace);
      await idle();
    },
    /** Presses Ctrl-D, and returns the exit code. */
    async leave(): Promise<number> {
      await idle();
      screen.press(keys.ctrlD);
      return exit;
    },
  };
}

/** Returns the functions that submit texts, and wait for the input and the output of a screen. */
function inputOf(screen: EmulatedTerminal) {
  return {
    submit: (input: string): void => {
      if (input !== "") screen.press(input);
      screen.press(keys.enter);
    },
    /** Resolves when the input of messages is open and empty. */
    idle: () => screen.waitUntil((lines) => lines.at(-1) === ">"),
    /** Resolves when the last line contains a text. */
    waitForQuestion: (question: string) => screen.waitUntil((lines) => lines.at(-1)?.includes(question) === true),
    /** Resolves when the lines contain a text, at least `count` times. */
    waitForText: (expectedText: string, count = 1) =>
      screen.waitUntil((lines) => lines.join("\n").split(expectedText).length > count),
  };
}

/** A chat with lines instead of an emulated terminal. */
export interface PlainTestChat {
  readonly io: FakeIo;
  readonly home: string;
  readonly exit: Promise<number>;
}

/** Opens a chat whose streams are pipes, or a terminal whose cursor cannot be moved. */
export async function openPlainTestChat(options: TestChatOptions & FakeOptions): Promise<PlainTestChat> {
  const home = options.home ?? (await temporaryFolder());
  const io = fakeIo({ ...options, cwd: home, env: { NO_COLOR: "1", TERM: "dumb", ...options.env, HOME: home } });
  return { io, home, exit: startChat(io, options) };
}

/** Runs a chat, and ends it when the test has finished. */
async function startChat(
  io: CommandIo,
  options: TestChatOptions,
  terminations = new Set<() => void>(),
): Promise<number> {
  const { servers = {}, model, argv = [], targets = [] } = options;
  const read = readChat(argv).options;
  let exit: Promise<number> | undefined;
  onTestFinished(async () => {
    for (const terminate of terminations) terminate();
    await exit?.catch(() => {});
  });
  const history = new ChatHistory(io);
  const screen = new Screen(io, () => {});
  const setting = {
    io,
    options: read,
    model: model && {
      name: "test/scripted",
      model,
      schemas: "common" as const,
      endpoint: undefined,
    },
    servers: Object.entries(servers).map(([name, entry]) => ({ name, entry })),
    outputs: serverOutputs(screen, read.verbose),
    history: read.noHistory ? undefined : history,
    resumedChat: read.resume === undefined ? undefined : await history.load(read.resume),
    targets,
    leftOut: [],
  };
  exit = runInteractive(setting, (listener) => {
    terminations.add(listener);
    return () => terminations.delete(listener);
  });
  return exit;
}
