import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { readTrustedFile } from "@mcparley/config";
import { Declined } from "mcparley";
import type { CommandIo } from "../io.ts";
import type { ClientOptions } from "../options.ts";
import { choose } from "../questions/choose.ts";
import { type TalkSetting, isAttended, talk, whyUnasked } from "../questions/prompter.ts";
import { visibleLine } from "../terminal-text.ts";
import { withUsageErrors } from "../hosts/config-problem.ts";

/** The part of a configuration entry that the user approves, as the file has it. Values of variables are not filled in. */
export interface Origin {
  readonly file: string;
  readonly name: string;
  /** The folder that the file belongs to, which the entry can refer to. */
  readonly folder: string;
  /** The words of the program to start. Undefined for a URL. */
  readonly command?: readonly string[];
  readonly cwd?: string;
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** The names of the variables in the `envFile`. */
  readonly envFile: readonly string[];
  /** The variables of this environment that a server at a URL receives. */
  readonly sends: readonly string[];
}

interface Setting extends TalkSetting {
  readonly options: Pick<ClientOptions, "yes" | "noInput">;
}

/**
 * Asks whether a command of a configuration file may be started, the first time that it is. The answer is remembered for
 * this command, its arguments, its folder and its variables, and not for the name of the server.
 *
 * A URL is only asked for if it receives variables of the environment. Throws `Declined` on a no, and if nobody can be
 * asked and `--yes` is not given.
 */
export async function approve(origin: Origin, setting: Setting): Promise<void> {
  if (setting.options.yes || (!origin.command && origin.sends.length === 0)) return;
  const subject = subjectOf(origin);
  if (isApproved(list, subject, setting.io)) return;
  const name = JSON.stringify(origin.name);
  if (!isAttended(setting)) {
    throw new Declined(
      `${summaryOf(origin)} was not approved, and ${whyUnasked(setting.options)}. ` +
        `Approve the server ${name} of ${origin.file} once at a terminal, or add --yes.`,
    );
  }
  const agreed = await talk(setting, setting.stop.signal, (prompter) => {
    prompter.say(describe(origin));
    return choose(`${origin.command ? "Start it" : "Connect"}? [y]es or [n]o? `, { y: true, n: false }, prompter);
  });
  if (!agreed) throw new Declined(`The server ${name} of ${origin.file} was not approved.`);
  rememberApproval(list, subject, setting.io);
}

/** Variables that make a program load or run other code. Their values are shown. */
const loading =
  /^(?:NODE_OPTIONS|NODE_PATH|PATH|LD_\w+|DYLD_\w+|PYTHON\w+|BASH_ENV|ENV|RUBYOPT|PERL5\w+|JAVA_TOOL_OPTIONS)$/i;

function describe(origin: Origin): string {
  const { file, name, command, cwd, env, envFile, sends } = origin;
  const what = command ? "starts a program" : "sends variables of this environment to a server";
  const variables = Object.entries(env).map(([key, value]) => (loading.test(key) ? `${key}=${value}` : key));
  const rows: [string, string | undefined][] = [
    ["Command", command && summaryOf(origin)],
    ["Folder", cwd],
    ["URL", origin.url],
    ["Variables", [...variables, ...envFile, ...sends].join(", ") || undefined],
  ];
  return [
    `\n${visibleLine(file)} ${what}, "${visibleLine(name)}":`,
    ...rows.flatMap(([label, text]) => (text === undefined ? [] : [`  ${label.padEnd(9)} ${visibleLine(text)}`])),
    "You are asked again when any of this changes.",
  ].join("\n");
}

function summaryOf({ command, url }: Origin): string {
  return command
    ? command.map((word) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word))).join(" ")
    : url!;
}

/** Returns entries in the order of their names, so that the order in the file makes no difference. */
function sorted(texts: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(texts).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function subjectOf({ folder, command, cwd, url, headers, env, envFile, sends }: Origin): readonly unknown[] {
  return [folder, command, cwd, url, sorted(headers), sorted(env), envFile.toSorted(), sends.toSorted()];
}

/** The list of the approved commands. */
const list = "approved-commands";

/** Returns whether the user has approved a subject. `list` is the name of a file in the user's folder for state. */
export function isApproved(
  list: string,
  subject: readonly unknown[],
  io: Pick<CommandIo, "env" | "platform">,
): boolean {
  const text = withUsageErrors(() => readTrustedFile(approvalsFile(list, io)));
  return text?.split("\n").includes(hashOf(subject)) ?? false;
}

/** Adds the hash of a subject to a list of approvals, which only the user can read. */
export function rememberApproval(
  list: string,
  subject: readonly unknown[],
  io: Pick<CommandIo, "env" | "platform">,
): void {
  const file = approvalsFile(list, io);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  appendFileSync(file, `${hashOf(subject)}\n`, { mode: 0o600 });
}

function hashOf(subject: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(subject)).digest("hex");
}

function approvalsFile(list: string, io: Pick<CommandIo, "env" | "platform">): string {
  return join(stateFolder(io), "mcparley", list);
}

/** Returns the user's folder for state. */
export function stateFolder({ env, platform }: Pick<CommandIo, "env" | "platform">): string {
  const home = env.HOME || homedir();
  if (platform === "win32") return env.LOCALAPPDATA || join(env.USERPROFILE || home, "AppData", "Local");
  if (platform === "darwin") return join(home, "Library", "Application Support");
  // A relative path must be ignored (XDG Base Directory Specification).
  return env.XDG_STATE_HOME?.startsWith("/") ? env.XDG_STATE_HOME : join(home, ".local", "state");
}
