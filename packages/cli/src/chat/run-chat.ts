import { chatCommand } from "../commands/chat.ts";
import { commandHelp } from "../commands/help.ts";
import { declaredCommands } from "../commands/all-commands.ts";
import { type CommandIo, UsageError } from "../terminal/io.ts";
import { yesNotice } from "../commands/connection/options.ts";
import { hasOption, readOptions, readWords } from "../terminal/options.ts";
import { optionsOfTarget } from "../targets/known-target.ts";
import { choose } from "../terminal/questions/choose.ts";
import { isAttended, talk } from "../terminal/questions/prompter.ts";
import { reportError } from "../commands/connection/report-error.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { Screen, printText } from "../terminal/screen.ts";
import { Stop, endedBySignal } from "../terminal/stop.ts";
import { readConnection } from "../targets/network.ts";
import { credentialsReleased } from "../targets/sign-in/exclusive-work.ts";
import { visibleLine } from "../terminal/text.ts";
import { storableTargets } from "./history/storable-targets.ts";
import type { StoredChat } from "./history/chat-file.ts";
import { ChatHistory } from "./history/stored-chats.ts";
import { runInteractive } from "./interactive.ts";
import { type ChosenModel, type ProviderQuestion, openModel } from "./model/open-model.ts";
import type { ChatSetting } from "./chat-host.ts";
import { readRequiredStdin } from "./read-stdin.ts";
import { runOnce } from "./run-once.ts";
import { type ServerWords, type StartSetting, chatServers } from "./servers/chat-servers.ts";
import { serverOutputs } from "./servers/server-outputs.ts";

/** Runs `mcparley chat` and returns the exit code. Reports errors and does not throw them. */
export async function runChat(argv: readonly string[], io: CommandIo): Promise<number> {
  const words = readWords(argv, chatCommand.options);
  const screen = new Screen(io, () => stop.breakPipe());
  const stop = new Stop(io, () => screen.note("Stopping. Press Ctrl-C again to exit immediately."));
  try {
    const typedOptions = readOptions(words, { name: "chat", options: chatCommand.options }, declaredCommands);
    if (typedOptions.yes) screen.noteParagraph(yesNotice({}));
    if (typedOptions.help) {
      await printText(commandHelp("chat", chatCommand, screen.out.terminal ? screen.out.width : 80), { screen });
      return exitCodes.ok;
    }
    const options = { ...typedOptions, trust: typedOptions.trust || typedOptions.yes };
    const targetOptions = optionsOfTarget(words, chatCommand.options, declaredCommands);
    const setting = { io, screen, options, stop, targetOptions };
    const start = await prepare({ targets: words.positionals, command: words.command }, setting);
    const isPiped = options.prompt === undefined && !io.isTerminal.stdin && !options.lines;
    const note = (text: string): void => screen.note(text);
    const pipedText = isPiped ? (await readRequiredStdin(io, { signal: stop.signal, note })).text : undefined;
    if (options.prompt !== undefined) {
      return await Promise.race([runToEnd(start, setting), secondSignal(stop)]);
    }
    // From here on, Ctrl-C belongs to the chat.
    stop.dispose();
    let isHungUp = false;
    const code = await runInteractive({ ...start, pipedText }, (listener) =>
      onEnd(io, listener, () => (isHungUp = true)),
    );
    await credentialsReleased();
    // The terminal does not exist any more. Node aborts at a usual exit, because it cannot restore the modes of the terminal.
    if (isHungUp) process.kill(process.pid, "SIGHUP");
    return code;
  } catch (error) {
    const code = endedBySignal(stop);
    if (code !== undefined) return code;
    const json = hasOption(words, chatCommand.options.json) ? "document" : undefined;
    return await reportError(error, { screen, json, verbose: hasOption(words, chatCommand.options.verbose) });
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
  await stop.secondSignal;
  return endedBySignal(stop) ?? exitCodes.interrupted;
}

/** Reads the stored conversation, chooses the model, and finds the servers. Asks the user before code of others is run. */
async function prepare(words: ServerWords, setting: StartSetting): Promise<ChatSetting> {
  const { io, options, screen } = setting;
  checkOptions(setting);
  const history = new ChatHistory(io);
  const resumedChat = options.resume === undefined ? undefined : await history.load(options.resume);
  const targets = words.targets.length === 0 ? (resumedChat?.targets ?? []) : words.targets;
  const model = await chooseModel(resumedChat, setting);
  if (options.prompt !== undefined && !model) {
    throw new UsageError("--prompt needs a model.", "Choose one with --model, such as --model ollama/qwen3.");
  }
  const outputs = serverOutputs(screen, options.verbose);
  const servers = await chatServers({ ...words, targets }, setting, outputs.write);
  const storable = storableTargets([...targets, ...(words.command ? ["--", ...words.command] : [])]);
  return {
    io,
    options,
    model,
    servers,
    outputs,
    resumedChat,
    ...storable,
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
  if (options.allow.some((pattern) => pattern === "" || pattern.startsWith(":") || pattern.endsWith(":"))) {
    throw new UsageError("A pattern of --allow is empty.", 'Such as --allow "find_*" or --allow "notes:find_*"');
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
async function chooseModel(
  resumedChat: StoredChat | undefined,
  setting: StartSetting,
): Promise<ChosenModel | undefined> {
  const { io, options } = setting;
  const confirm = isAttended(setting) ? (question: ProviderQuestion) => confirmProvider(question, setting) : undefined;
  // A client certificate is for servers.
  const { proxy, ca } = readConnection(options, io) ?? {};
  const connection = proxy === undefined && ca === undefined ? undefined : { proxy, ca };
  const surroundings = { ...io, confirm, connection };
  const chosenModel = await openModel(options, surroundings);
  if (chosenModel || resumedChat?.model === undefined) return chosenModel;
  try {
    return await openModel({ ...options, model: resumedChat.model }, surroundings);
  } catch (error) {
    // The address of an endpoint and the package of a provider are not stored.
    if (!(error instanceof UsageError)) throw error;
    setting.screen.noteParagraph(
      `The conversation used the model "${resumedChat.model}". Choose it again with --model.`,
    );
    return undefined;
  }
}

async function confirmProvider({ name, path, version }: ProviderQuestion, setting: StartSetting): Promise<boolean> {
  const isApproved = await talk(setting, setting.stop.signal, (prompter) => {
    prompter.say(`\n${visibleLine(name)} runs code of a package for the first time:`);
    prompter.say(`  Version  ${visibleLine(version === "" ? "unknown" : version)}\n  Folder   ${visibleLine(path)}`);
    prompter.say("You are asked again when its version or its folder changes.");
    return choose("Load it? [y]es or [n]o? ", { y: true, n: false }, prompter);
  });
  return isApproved === true;
}
