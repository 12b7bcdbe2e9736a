import type { CatalogueChange, Host, HostEvent, HostServer } from "@mcparley/host";
import { type LoggingLevel, loggingLevels, printable } from "mcparley";
import { unmatchedPatterns } from "../../commands/arguments/tool-spellings.ts";
import { withOptionNames } from "../../targets/option-names.ts";
import { hasNoSignIn, tokenOption } from "../../targets/sign-in/refused-access.ts";
import { paragraph } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";
import { namedTools } from "../servers/server-names.ts";
import type { ServerOutputs } from "../servers/server-outputs.ts";
import type { Chat } from "./chat.ts";

interface NoticeSetting {
  /** The lowest level of log messages that are shown. */
  readonly logLevel: LoggingLevel;
  readonly isVerbose: boolean;
  /** The patterns of `--allow`. Those that match nothing are reported when no server connects any more. */
  readonly allow: readonly string[];
  /** The stderr of the servers that were started. */
  readonly outputs: ServerOutputs;
}

/** Returns a listener that shows the events of a host that a user must know: connections, changes, log messages and errors. */
export function noticeListener(open: () => Chat | undefined, setting: NoticeSetting): (event: HostEvent) => void {
  const { logLevel, isVerbose, outputs, allow } = setting;
  /** The notice of each server that was shown last. A failure that repeats is shown once. */
  const lastNotices = new Map<string, string>();
  /** The names of the entries of each server. Those of a server that is off, or that is replaced, remain. */
  const knownEntries = new Map<string, Set<string>>();
  let hasCheckedPatterns = allow.length === 0;
  return (event) => {
    const chat = open();
    if (!chat) return;
    if (!hasCheckedPatterns && isSettled(chat.host)) {
      hasCheckedPatterns = true;
      const texts = unmatchedPatterns(allow, namedTools(chat.host));
      for (const text of texts) chat.terminal.note(chat.view.style.yellow(paragraph(visibleLine(text), chat.view)));
    }
    if (event.type === "server") {
      chat.terminal.refresh();
      const { server, state, error } = event;
      const notice = `${state} ${error?.message ?? ""}`;
      const isShown = state === "ready" || state === "failed" || state === "needs-sign-in";
      if (!isShown || lastNotices.get(server) === notice) return;
      lastNotices.set(server, notice);
      showState(event, chat, outputs);
    } else if (event.type === "catalogue") {
      chat.terminal.refresh();
      showChange(event.change, knownEntries, chat);
    } else if (event.type === "log") showLog(event, chat, logLevel);
    else if (event.type === "updated") showUpdate(event, chat);
    else if (event.type === "retry") chat.terminal.note(chat.view.style.yellow(retryText(event)));
    else if (event.type === "sign-in" && isVerbose) showDetail(event.server, event.step, chat);
    else if (event.type === "error" && isVerbose) showDetail(event.server, event.error.message, chat);
  };
}

/** Returns whether the definitions of all servers that can be used are in the catalogue. */
function isSettled({ servers, catalogue }: Host): boolean {
  return [...servers.values()].every(({ name, state, lists }) => {
    if (state === "idle" || state === "connecting") return false;
    return state !== "ready" || lists?.tools.length === 0 || catalogue.tools.some(({ server }) => server === name);
  });
}

/** Returns a line about a request to the model that failed and is repeated. */
export function retryText({ server, retry }: HostEvent & { type: "retry" }): string {
  const { status, error, nextTry, maxTries, delay } = retry;
  const [reason = ""] = error.message.split(/\.(?:\s|$)/, 1);
  const fact = status === undefined ? reason : `The model endpoint answered ${status}`;
  const origin = server === undefined ? "" : ` for ${server}`;
  return visibleLine(`${fact}${origin}; try ${nextTry} of ${maxTries} in ${Math.ceil(delay / 1000)} s`);
}

function showState(
  { server, state, error }: HostEvent & { type: "server" },
  { terminal, view, host }: Chat,
  outputs: ServerOutputs,
): void {
  const { dim, red, yellow } = view.style;
  const name = visibleLine(server);
  if (state === "needs-sign-in") {
    const need = hasNoSignIn(error)
      ? `${name} requires a token or a key, and offers no sign-in. Start the chat with ${tokenOption}`
      : `${name} requires a sign-in: /servers sign-in ${name}`;
    terminal.note(yellow(paragraph(need, view)));
  }
  if (state === "failed") {
    const reason = printable(withOptionNames(error?.message ?? "no reason was given"));
    terminal.note(red(paragraph(`${name} failed: ${reason}`, view)));
    const tail = outputs.takeTail(server);
    if (tail !== "" && !error?.message.includes(tail)) terminal.note(dim(paragraph(printable(tail), view, "  ")));
  }
  const lists = host.servers.get(server)?.lists;
  if (state === "ready" && lists) terminal.note(dim(`${name} is connected: ${countsText(lists)}`));
}

function showDetail(server: string | undefined, text: string, { terminal, view }: Chat): void {
  const origin = server === undefined ? "" : `${visibleLine(server)}: `;
  terminal.note(view.style.dim(origin + printable(withOptionNames(text))));
}

/**
 * Shows the change of a server. The first definitions of a server are counted by the notice of its connection. Those that disappear because
 * the user turned the server off, and return later, are no change.
 */
function showChange(
  { server, added, removed, changed }: CatalogueChange,
  knownEntries: Map<string, Set<string>>,
  { terminal, view, host }: Chat,
): void {
  const state = host.servers.get(server)?.state;
  if (state === undefined || state === "disabled") return;
  const known = knownEntries.get(server);
  const newNames = known ? added.filter((name) => !known.has(name)) : [];
  knownEntries.set(server, new Set([...(known ?? []), ...added].filter((name) => !removed.includes(name))));
  const parts = [
    ["new", newNames],
    ["removed", removed],
    ["changed", changed],
  ] as const;
  const texts = parts.filter(([, names]) => names.length > 0).map(([label, names]) => `${label}: ${nameList(names)}`);
  if (texts.length > 0) terminal.note(view.style.dim(`${visibleLine(server)} has changed: ${texts.join("; ")}`));
}

/** Maximum names of a change that are shown. */
const mostNames = 5;

function nameList(names: readonly string[]): string {
  const list = names.slice(0, mostNames).map(visibleLine).join(", ");
  return names.length > mostNames ? `${list} and ${names.length - mostNames} more` : list;
}

function showLog(
  { server, message }: HostEvent & { type: "log" },
  { terminal, view }: Chat,
  lowest: LoggingLevel,
): void {
  const { level, logger, data } = message;
  if (loggingLevels.indexOf(level) < loggingLevels.indexOf(lowest)) return;
  const { dim, yellow, red } = view.style;
  const colour = ["debug", "info", "notice"].includes(level) ? dim : level === "warning" ? yellow : red;
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  const origin = logger === undefined ? visibleLine(server) : `${visibleLine(server)} ${visibleLine(logger)}`;
  terminal.note(colour(`[${level}] ${origin}: ${visibleLine(text.slice(0, 2000))}`));
}

function showUpdate({ server, uri }: HostEvent & { type: "updated" }, { terminal, view, conversation }: Chat): void {
  if (!conversation.attachments.some((one) => one.server === server && one.uri === uri)) return;
  terminal.note(
    view.style.dim(visibleLine(`${server}:${uri} has changed. Its new content is sent with the next message.`)),
  );
}

/** Returns the number of definitions of each kind, such as `3 tools, 1 prompt`. */
export function countsText({ tools, prompts, resources, templates }: NonNullable<HostServer["lists"]>): string {
  const counts: [number, string][] = [
    [tools.length, "tool"],
    [prompts.length, "prompt"],
    [resources.length, "resource"],
    [templates.length, "template"],
  ];
  const texts = counts
    .filter(([count]) => count > 0)
    .map(([count, noun]) => `${count} ${noun}${count === 1 ? "" : "s"}`);
  return texts.length === 0 ? "no tools, prompts or resources" : texts.join(", ");
}
