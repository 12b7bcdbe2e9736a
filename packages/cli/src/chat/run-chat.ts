import type { AnyCommand } from "../client/session.ts";
import { commandHelp } from "../client/help.ts";
import { type CommandIo, UsageError } from "../client/io.ts";
import { yesNotice } from "../client/option-definitions.ts";
import { readWords } from "../client/options.ts";
import { choose } from "../client/questions/choose.ts";
import { isAttended, talk } from "../client/questions/prompter.ts";
import { exitCodes, reportError } from "../client/report-error.ts";
import { Screen, printText } from "../client/screen.ts";
import { credentialsReleased } from "../client/sign-in/credentials.ts";
import { type Stop, createStop, endedBySignal } from "../client/stop.ts";
import { visibleLine } from "../client/terminal-text.ts";
import { storableTargets } from "./history/storable-targets.ts";
import { type StoredChat, openHistory } from "./history/stored-chats.ts";
import { runInteractive } from "./interactive.ts";
import { type ChosenModel, type ProviderQuestion, openModel } from "./model/open-model.ts";
import type { ChatSetting } from "./open-chat.ts";
import { readRequiredStdin } from "./read-stdin.ts";
import { runOnce } from "./run-once.ts";
import { type ServerWords, type StartSetting, chatServers } from "./servers/chat-servers.ts";
import { serverOutputs } from "./servers/server-outputs.ts";

/** The description of `mcparley chat`, for its help. */
export const chatCommand: AnyCommand = {
  usage: "[TARGET ...]",
  summary: "talk to a model that uses the tools, prompts and resources of servers",
  details: [
    "Without a TARGET, the servers of the nearest configuration file of this folder or one above it are used. A command after -- is one " +
      "more server.",
    "Each call of a tool is shown and asked for. / opens the menu of commands and prompts, @ that of the resources. Without --model you " +
      "choose what a model would, and see what it would receive.",
    "--prompt sends one message and prints the answer. Nothing is asked then: calls need --allow or a rule. --json prints one document.",
    "With --prompt, the text of a pipe is a part of the message. @FILE in it adds a file, @SERVER:URI a resource, and -p - or -p @FILE reads " +
      "the whole message. Without --prompt, a pipe is one message; --lines reads each line as one.",
    "The conversation is stored, and --resume continues it. Keys of models are read from variables: OPENAI_API_KEY, or --api-key-env.",
  ],
  examples: [
    "mcparley chat handbook",
    "mcparley chat notes https://example.com/mcp --model ollama/qwen3",
    "mcparley chat -m qwen3 --base-url http://127.0.0.1:8080/v1 -- node server.js",
    'mcparley chat notes -m ollama/qwen3 --allow "find_*" -p "What is due?" --json',
    'git diff | mcparley chat -m ollama/qwen3 -p "Review it by @CONTRIBUTING.md"',
    "mcparley chat --resume last",
  ],
  edit: () => Promise.reject(new TypeError("mcparley chat is run by `runChat`.")),
};

/** Runs `mcparley chat` and returns the exit code. Reports errors and does not throw them. */
export async function runChat(argv: readonly string[], io: CommandIo): Promise<number> {
  const own = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  const json = own.includes("--json") ? "document" : undefined;
  const screen = new Screen(io, () => stop.breakPipe());
  const stop = createStop(io, () => screen.note("Stopping. Press Ctrl-C again to exit immediately."));
  try {
    const { positionals, command, options } = readWords(argv, "chat");
    if (options.yes) screen.noteParagraph(yesNotice("chat"));
    if (options.help) {
      await printText(commandHelp("chat", chatCommand, screen.out.terminal ? screen.out.width : 80), { screen });
      return exitCodes.ok;
    }
    const setting = { io, screen, options, stop };
    const start = await prepare({ targets: positionals, command }, setting);
    const isPiped = options.prompt === undefined && !io.isTerminal.stdin && !options.lines;
    const note = (text: string): void => screen.note(text);
    const piped = isPiped ? (await readRequiredStdin(io, { signal: stop.signal, note })).text : undefined;
    if (options.prompt !== undefined) {
      return await Promise.race([runToEnd(start, setting), secondSignal(stop)]);
    }
    // From here on, Ctrl-C belongs to the chat.
    stop.dispose();
    let isHungUp = false;
    const code = await runInteractive({ ...start, piped }, (listener) => onEnd(io, listener, () => (isHungUp = true)));
    await credentialsReleased();
    // The terminal does not exist any more. Node aborts at a usual exit, because it cannot restore the modes of the terminal.
    if (isHungUp) process.kill(process.pid, "SIGHUP");
    return code;
  } catch (error) {
    const code = endedBySignal(stop);
    if (code !== undefined) return code;
    return await reportError(error, { screen, json, verbose: own.includes("--verbose") || own.includes("-v") });
  } finally {
    stop.dispose();
  }
}

/** Calls the listener when the system or the end of the terminal ends the process. Returns a function that stops it. */
function onEnd(io: CommandIo, listener: () => void, onHangUp: () => void): () => void {
  const hangUp = (): void => {
    onHangUp();
    listener();
  };
  const stopListening = io.onTerminate(listener);
  process.on("SIGHUP", hangUp);
  return () => {
    stopListening();
    process.off("SIGHUP", hangUp);
  };
}

/** Runs `--prompt`, and waits for the last responses of authorization servers. */
async function runToEnd(start: ChatSetting, setting: StartSetting): Promise<number> {
  try {
    const code = await runOnce(start, setting);
    return endedBySignal(setting.stop) ?? code;
  } finally {
    await credentialsReleased();
  }
}

async function secondSignal(stop: Stop): Promise<number> {
  await stop.ended;
  return endedBySignal(stop) ?? exitCodes.interrupted;
}

/** Reads the stored conversation, chooses the model, and finds the servers. Asks the user before code of others is run. */
async function prepare(words: ServerWords, setting: StartSetting): Promise<ChatSetting> {
  const { io, options, screen } = setting;
  checkOptions(setting);
  const history = openHistory(io);
  const resumed = options.resume === undefined ? undefined : await history.load(options.resume);
  const targets = words.targets.length === 0 ? (resumed?.targets ?? []) : words.targets;
  const model = await chooseModel(resumed, setting);
  if (options.prompt !== undefined && !model) {
    throw new UsageError("--prompt needs a model.", "Choose one with --model, such as --model ollama/qwen3.");
  }
  const outputs = serverOutputs(screen, options.verbose);
  const servers = await chatServers({ ...words, targets }, setting, outputs.write);
  const kept = storableTargets([...targets, ...(words.command ? ["--", ...words.command] : [])]);
  return {
    io,
    options,
    model,
    servers,
    outputs,
    resumed,
    ...kept,
    history: options.noHistory ? undefined : history,
  };
}

function checkOptions({ options }: StartSetting): void {
  if (options.json && options.prompt === undefined) {
    throw new UsageError(
      "--json needs --prompt, because a chat has no single result.",
      'Such as --prompt "What is due?" --json',
    );
  }
  if (options.prompt?.trim() === "") throw new UsageError("--prompt is empty.", 'Such as --prompt "What is due?"');
  if (options.lines && options.prompt !== undefined) {
    throw new UsageError("--lines and --prompt exclude each other.", "With --prompt, a pipe is a part of the message.");
  }
  if (options.timeout !== undefined && options.prompt === undefined) {
    throw new UsageError("--timeout needs --prompt. A chat has no time limit.");
  }
}

/** Returns the model of the options and settings, and otherwise that of the continued conversation. */
async function chooseModel(resumed: StoredChat | undefined, setting: StartSetting): Promise<ChosenModel | undefined> {
  const { io, options } = setting;
  const { model, baseUrl, apiKeyEnv, provider } = options;
  const confirm = isAttended(setting) ? (question: ProviderQuestion) => confirmProvider(question, setting) : undefined;
  const surroundings = { cwd: io.cwd, env: io.env, platform: io.platform, confirm };
  const chosen = await openModel({ model, baseUrl, apiKeyEnv, provider }, surroundings);
  if (chosen || resumed?.model === undefined) return chosen;
  try {
    return await openModel({ model: resumed.model, baseUrl, apiKeyEnv, provider }, surroundings);
  } catch (error) {
    // The address of an endpoint and the package of a provider are not stored.
    if (!(error instanceof UsageError)) throw error;
    setting.screen.noteParagraph(`The conversation used the model "${resumed.model}". Choose it again with --model.`);
    return undefined;
  }
}

async function confirmProvider({ name, path, version }: ProviderQuestion, setting: StartSetting): Promise<boolean> {
  const agreed = await talk(setting, setting.stop.signal, (prompter) => {
    prompter.say(`\n${visibleLine(name)} runs code of a package for the first time:`);
    prompter.say(`  Version  ${visibleLine(version === "" ? "unknown" : version)}\n  Folder   ${visibleLine(path)}`);
    prompter.say("You are asked again when its version or its folder changes.");
    return choose("Load it? [y]es or [n]o? ", { y: true, n: false }, prompter);
  });
  return agreed === true;
}
