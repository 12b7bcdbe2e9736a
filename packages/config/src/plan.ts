import { createHash } from "node:crypto";
import { ConfigError, quoteName } from "./config-error.ts";
import { parseConfig } from "./files/config-files.ts";
import { decode, readTrusted } from "./files/trusted-file.ts";
import { realFileOf, requireInProject } from "./files/written-file.ts";
import {
  type Change,
  SyntaxProblem,
  UnsafeEdit,
  changesBetween,
  isIntended,
  isTable,
  memberOf,
  valueAt,
} from "./formats/format.ts";
import { type ConfigLocation, type HostRules, UnsupportedTarget } from "./hosts/host.ts";
import { rulesOf } from "./hosts/index.ts";
import { membersOf } from "./hosts/members-of.ts";
import type { HostId, Scope, ServerTarget } from "./model.ts";
import { type PlaceOptions, placeOf } from "./place.ts";
import { referencesIn } from "./target-references.ts";

/** The server that a plan adds, updates or removes. */
export interface ServerOptions extends PlaceOptions {
  readonly host: HostId;
  /** Default: `project` if the host has it, otherwise `user`. */
  readonly scope?: Scope;
  readonly name: string;
}

/** Options of `planAdd` and `planUpdate`. */
export interface WriteOptions extends ServerOptions {
  readonly target: ServerTarget;
  /** Descriptions of the inputs that `target` refers to, by id. VS Code shows them when it asks. Default: the id. */
  readonly inputs?: ReadonlyMap<string, string>;
}

/** A change of a configuration file that is not yet written. */
export interface ConfigPlan {
  readonly action: "add" | "update" | "remove";
  readonly host: HostId;
  readonly scope: Scope;
  readonly name: string;
  readonly file: string;
  /** The file without links, which `applyPlan` compares. */
  readonly realFile: string;
  /** The text of the file. Undefined if there is no file. It can contain secrets. */
  readonly before: string | undefined;
  readonly after: string;
  /** The SHA-256 of the file, which `applyPlan` compares. Undefined if there is no file. */
  readonly hash: string | undefined;
}

/**
 * Plans a new server in the configuration of a host. Nothing is written: show the plan, then call `applyPlan`.
 *
 * Throws `ConfigError`: `exists` for a name in use, `invalid_name` for one that the host refuses, `unsupported` for a target that the
 * host cannot express and for a text that cannot be edited safely, and the errors of an invalid or untrusted file.
 *
 * @example
 * ```ts
 * import { changedLines, planAdd } from "@mcparley/config";
 *
 * const target = {
 *   kind: "command" as const,
 *   command: "npx",
 *   args: ["-y", "notes-server@1.2.3"],
 *   env: new Map([["NOTES_TOKEN", [{ kind: "env" as const, name: "NOTES_TOKEN" }]]]),
 * };
 * const plan = planAdd({ host: "cursor", scope: "project", name: "notes", target });
 * console.log(plan.file, changedLines(plan).added);
 * ```
 */
export function planAdd(options: WriteOptions): ConfigPlan {
  const subject = readSubject(options);
  const { rules, location, name, root } = subject;
  const reason = rules.refuseName(name);
  if (reason !== undefined) {
    throw new ConfigError("invalid_name", `${rules.title} does not accept the name ${quoteName(name)}: ${reason}.`, {
      cure: "Choose another name.",
    });
  }
  if (memberOf(valueAt(root, location.path), name) !== undefined) {
    const cure = "Choose another name, or update the server.";
    throw new ConfigError("exists", `There is a server ${quoteName(name)} already.`, { file: location.file, cure });
  }
  const value = { ...rules.defaults?.(name), ...writtenMembers(rules, options) };
  return planChanges(subject, "add", [...inputChanges(subject, options), { path: [...location.path, name], value }]);
}

/**
 * Plans another target for a server. Members that the package does not know, such as timeouts, and comments beside other members
 * are kept. Members that give the server rights or credentials, such as `trust` and `autoApprove`, are removed: they were meant for the
 * previous target. Throws `ConfigError` as `planAdd` does, and `not_found` if there is no such server.
 *
 * @example
 * ```ts
 * import { applyPlan, planUpdate } from "@mcparley/config";
 *
 * const target = { kind: "url" as const, url: "https://notes.example/mcp", transport: "http" as const, headers: new Map() };
 * applyPlan(planUpdate({ host: "vscode", scope: "project", name: "notes", target }));
 * ```
 */
export function planUpdate(options: WriteOptions): ConfigPlan {
  const subject = readSubject(options);
  const { rules, location, name } = subject;
  const entry = existing(subject);
  const keptMembers = Object.entries(isTable(entry) ? entry : {}).filter(
    ([member, value]) => !rules.members.includes(member) && !hasRight(member, value),
  );
  const newEntry = Object.fromEntries([...keptMembers, ...Object.entries(writtenMembers(rules, options))]);
  const path = [...location.path, name];
  const changes = isTable(entry) ? changesBetween(path, entry, newEntry) : [{ path, value: newEntry }];
  return planChanges(subject, "update", [...inputChanges(subject, options), ...changes]);
}

/** Parts of the names of members with which a host calls tools without a question, or gives a server credentials. */
const rightName =
  /trust|approv|allow|permi|grant|consent|auto|yolo|bypass|skip|oauth|auth|credential|token|secret|cookie|header|account|audience|scope/i;

/** Whether a member of an entry, or one within it, gives a server rights. A list of disabled or excluded tools gives none. */
function hasRight(member: string, value: unknown): boolean {
  if (rightName.test(member) && !/^(?:dis|ex|not|deny)/i.test(member)) return true;
  return isTable(value) && Object.entries(value).some(([name, inner]) => hasRight(name, inner));
}

/**
 * Plans the removal of a server. Throws `ConfigError` (`not_found`) if there is no such server.
 *
 * @example
 * ```ts
 * import { applyPlan, planRemove } from "@mcparley/config";
 *
 * const { backup } = applyPlan(planRemove({ host: "codex", scope: "user", name: "notes" }));
 * console.log(`Removed. The previous file is ${backup}.`);
 * ```
 */
export function planRemove(options: ServerOptions): ConfigPlan {
  const subject = readSubject(options);
  existing(subject);
  return planChanges(subject, "remove", [{ path: [...subject.location.path, subject.name], value: undefined }]);
}

/**
 * Returns the lines that a plan removes and adds, and the line at which they start. The lines are those of the file, and can contain
 * secrets.
 *
 * @example
 * ```ts
 * import { changedLines } from "@mcparley/config";
 *
 * console.log(changedLines({ before: "a\nb\n", after: "a\nc\n" })); // { line: 2, removed: ["b"], added: ["c"] }
 * ```
 */
export function changedLines(plan: { readonly before: string | undefined; readonly after: string }): {
  line: number;
  removed: string[];
  added: string[];
} {
  const linesBefore = plan.before === undefined || plan.before === "" ? [] : plan.before.split(/\r?\n/);
  const linesAfter = plan.after.split(/\r?\n/);
  let start = 0;
  while (start < Math.min(linesBefore.length, linesAfter.length) && linesBefore[start] === linesAfter[start])
    start += 1;
  let end = 0;
  const maxEnd = Math.min(linesBefore.length, linesAfter.length) - start;
  while (end < maxEnd && linesBefore[linesBefore.length - 1 - end] === linesAfter[linesAfter.length - 1 - end])
    end += 1;
  return {
    line: start + 1,
    removed: linesBefore.slice(start, linesBefore.length - end),
    added: linesAfter.slice(start, linesAfter.length - end),
  };
}

/** A server, the file that has it or receives it, and the content of the file. */
interface Subject {
  readonly rules: HostRules;
  readonly location: ConfigLocation;
  readonly name: string;
  readonly text: string | undefined;
  readonly hash: string | undefined;
  readonly root: unknown;
  readonly realFile: string;
}

/** Finds the file that has a server, or else the first that exists, or else the first of the scope. */
function readSubject(options: ServerOptions): Subject {
  const rules = rulesOf(options.host);
  const place = placeOf(options);
  const all = rules.locations(place);
  const scope = options.scope ?? (all.some((location) => location.scope === "project") ? "project" : "user");
  const locations = all.filter((location) => location.scope === scope);
  if (locations.length === 0) {
    const scopes = [...new Set(all.map((location) => location.scope))].join(", ") || "none on this system";
    throw new ConfigError("unsupported", `${rules.title} has no configuration in the scope ${quoteName(scope)}.`, {
      cure: `Its scopes are: ${scopes}.`,
    });
  }
  const subjects = locations.map((location): Omit<Subject, "realFile"> => {
    const content = readTrusted(location.file, rules.limit);
    const base = { rules, location, name: options.name };
    if (!content) return { ...base, text: undefined, hash: undefined, root: {} };
    const text = decode(content.bytes, location.file);
    return { ...base, text, hash: hashOf(content.bytes), root: parseConfig(rules, location.file, text).value };
  });
  type Candidate = (typeof subjects)[number];
  const has = ({ root, location, name }: Candidate): boolean =>
    memberOf(valueAt(root, location.path), name) !== undefined;
  const isWritable = ({ text, location }: Candidate): boolean => text !== undefined && !location.isForeign;
  const subject = subjects.find(has) ?? subjects.find(isWritable) ?? subjects[0]!;
  const { file } = subject.location;
  const realFile = realFileOf(file);
  if (scope === "project") requireInProject(file, realFile, place.folder);
  return { ...subject, realFile };
}

export function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function existing({ rules, location, name, root }: Subject): unknown {
  const value = memberOf(valueAt(root, location.path), name);
  if (value !== undefined) return value;
  const fact = `${rules.title} has no server ${quoteName(name)} in this file.`;
  throw new ConfigError("not_found", fact, { file: location.file, cure: "Check the name and the scope." });
}

function writtenMembers(rules: HostRules, { target }: WriteOptions): Readonly<Record<string, unknown>> {
  try {
    return membersOf(rules, target);
  } catch (error) {
    if (!(error instanceof UnsupportedTarget)) throw error;
    throw new ConfigError("unsupported", `${rules.title}: ${error.message}`, { cure: error.cure });
  }
}

/** Returns the changes that declare the inputs of a target, which VS Code needs at the root of the file. */
function inputChanges({ rules, root }: Subject, { target, inputs }: WriteOptions): Change[] {
  if (!rules.references.input) return [];
  const declaredInputs: unknown = memberOf(root, "inputs");
  const list: readonly unknown[] = Array.isArray(declaredInputs) ? declaredInputs : [];
  const ids = new Set(referencesIn(target).flatMap((reference) => (reference.kind === "input" ? [reference.id] : [])));
  const missing = [...ids].filter((id) => !list.some((input) => memberOf(input, "id") === id));
  const items = missing.map((id) => ({ type: "promptString", id, description: inputs?.get(id) ?? id, password: true }));
  if (items.length === 0) return [];
  if (declaredInputs === undefined) return [{ path: ["inputs"], value: items }];
  return items.map((value, index) => ({ path: ["inputs", list.length + index], value }));
}

/** Applies changes to the text, and compares the result of each with the intended value. */
function planChanges(subject: Subject, action: ConfigPlan["action"], changes: readonly Change[]): ConfigPlan {
  const { rules, location, name, hash, realFile } = subject;
  const { file, scope } = location;
  let { text = "", root } = subject;
  for (const change of changes) {
    text = editSafely(rules, { file, text, change });
    const result = parseResult(rules, { file, text });
    if (!isIntended(root, change, result)) throw unsafe(file, "the edit would change other parts of the file");
    root = result;
  }
  return { action, host: rules.id, scope, name, file, realFile, before: subject.text, after: text, hash };
}

function editSafely(rules: HostRules, { file, text, change }: { file: string; text: string; change: Change }): string {
  try {
    return rules.format.edit(text, change);
  } catch (error) {
    if (error instanceof UnsafeEdit) throw unsafe(file, error.message);
    throw error;
  }
}

function parseResult(rules: HostRules, { file, text }: { file: string; text: string }): unknown {
  try {
    return rules.format.parse(text).value;
  } catch (error) {
    if (error instanceof SyntaxProblem) throw unsafe(file, "the edit would make the file invalid");
    throw error;
  }
}

function unsafe(file: string, reason: string): ConfigError {
  const cure = "Edit the file by hand.";
  return new ConfigError("unsupported", `The file cannot be edited safely: ${reason}.`, { file, cure });
}
