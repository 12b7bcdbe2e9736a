import type { HostServer } from "@mcparley/host";
import { printable, supportedVersions } from "mcparley";
import { hasNoSignIn } from "../../targets/sign-in/refused-access.ts";
import { readRevision } from "../../targets/revision.ts";
import { UsageError } from "../../terminal/io.ts";
import { paragraph } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";
import { untilAborted } from "../../terminal/abort.ts";
import { type Chat, interruptible } from "../session/chat.ts";
import { countsText } from "../session/notices.ts";
import { type ChatCommand, requireNamed, splitWords, wordMenu } from "./command.ts";

/** `words` follow the name of the server. Returns the server if it was replaced. */
type ServerAction = (server: HostServer, words: readonly string[], chat: Chat) => Promise<HostServer | void>;

/** The states of a server in words. */
const stateTexts: Readonly<Record<HostServer["state"], string>> = {
  idle: "not connected",
  connecting: "connecting",
  ready: "ready",
  "needs-sign-in": "needs a sign-in",
  failed: "failed",
  disabled: "off",
};

/** The action that accepts words after the name: scopes to request. */
const signIn = "sign-in";
/** The action that needs a word after the name. */
const setRevision = "revision";

const actions: ReadonlyMap<string, ServerAction> = new Map<string, ServerAction>([
  [
    "on",
    async (server) => {
      server.enable();
      await server.connect();
    },
  ],
  ["off", (server) => server.disable()],
  ["reconnect", (server) => server.reconnect()],
  [signIn, (server, scopes) => server.signIn({ scope: scopes.join(" ") })],
  [setRevision, ({ name }, [revision = ""], chat) => chat.setRevision(name, readRevision(revision))],
]);

/** Shows the servers, and turns one on or off, connects it again, or signs in to it. */
export const serversCommand: ChatCommand = {
  usage: "[on|off|reconnect|sign-in|revision NAME ...]",
  summary: "show the servers, or change one",
  async run(text, chat) {
    const [word, name, ...more] = splitWords(text);
    if (word === undefined) return showServers(chat);
    const action = requireNamed("action", word, actions);
    if (name === undefined || (more.length > (word === setRevision ? 1 : 0) && word !== signIn)) {
      const [example = "NAME"] = chat.host.servers.keys();
      throw new UsageError(`/servers ${word} needs the name of one server.`, `Such as /servers ${word} ${example}`);
    }
    const server = requireNamed("server", name, chat.host.servers);
    if (word === setRevision && more.length === 0)
      throw new UsageError("Which revision?", `Such as /servers revision ${name} 2025-11-25, or auto.`);
    let changedServer = server;
    chat.terminal.status([`${word} ${visibleLine(name)} (Ctrl-C stops waiting)`]);
    try {
      // The work has no signal, and goes on.
      await interruptible(chat, async (signal) => {
        changedServer = (await untilAborted(action(server, more, chat), signal)) ?? server;
        if (signal.aborted) throw new UsageError("Stopped waiting for the server.");
      });
    } finally {
      chat.terminal.status([]);
    }
    showServer(changedServer, chat);
  },
  suggest(words, chat) {
    const actionEntries = [...actions.keys()].map((value) => ({ value: `${value} ` }));
    const serverEntries = [...chat.host.servers].map(([value, { state }]) => ({ value, detail: stateTexts[state] }));
    if (/^revision +\S+ /.test(words))
      return wordMenu(
        words,
        ["auto", ...supportedVersions].map((value) => ({ value })),
      );
    return wordMenu(words, words.includes(" ") ? serverEntries : actionEntries);
  },
};

function showServers(chat: Chat): void {
  const { host, terminal } = chat;
  if (host.servers.size === 0) {
    terminal.print("There are no servers. Name some on the command line: mcparley chat TARGET...");
    return;
  }
  for (const server of host.servers.values()) showServer(server, chat);
}

function showServer({ name, state, info, lists, error, retryAt }: HostServer, { terminal, view }: Chat): void {
  const { bold, dim, red, yellow } = view.style;
  const mark = state === "failed" ? red : state === "needs-sign-in" ? yellow : dim;
  const claims = info?.info === undefined ? "" : `${info.info.name} ${info.info.version}, revision ${info.revision}`;
  const label = `${visibleLine(name)}  `;
  terminal.print(`${bold(label)}${mark(stateTexts[state])}${claims === "" ? "" : dim(`  ${visibleLine(claims)}`)}`);
  if (lists && state !== "disabled") terminal.print(dim(`  ${countsText(lists)}${lists.isCached ? ", stored" : ""}`));
  if (error) terminal.print(paragraph(printable(error.message), view, "  "));
  if (state === "needs-sign-in" && !hasNoSignIn(error))
    terminal.print(yellow(`  Sign in: /servers sign-in ${visibleLine(name)}`));
  if (state === "failed" && retryAt !== undefined)
    terminal.print(dim("  It is tried again later, or now with /servers reconnect."));
}
