import { LocalError, type LocalErrorCode, ProtocolError, ToolError, printable } from "mcparley";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { UsageError } from "../../terminal/io.ts";
import { isObject } from "@mcparley/internal/is-object";
import { withOptionNames } from "../../targets/option-names.ts";
import { helpFor } from "../../terminal/error-help.ts";
import { largestReply } from "./options.ts";
import { type KnownTarget, withServerName, withTarget, withoutUrlSecrets } from "../../targets/known-target.ts";
import {
  accessHint,
  isDeniedByUser,
  missingScopes,
  notRevokedHint,
  signInHint,
} from "../../targets/sign-in/refused-access.ts";
import { type JsonForm, type Screen, paragraph, printJson } from "../../terminal/screen.ts";
import { UnansweredError } from "./unanswered.ts";
import { programHint } from "./program-hint.ts";
import type { ProgramOutput } from "./program-output.ts";
import { visibleLine } from "../../terminal/text.ts";

/** The facts that explain an error of a command. */
export interface FailureFacts {
  /** The kind of revision of the connection. Undefined if none was opened. */
  revisionKind?: "modern" | "legacy";
  /** The method of the request that failed last. */
  method?: string;
  /** The output of a server that the command started. */
  program?: Pick<ProgramOutput, "tail" | "strayLine">;
  /** The variables of this environment that a started server does not receive. */
  hiddenVariables?: readonly string[];
  /** Undefined until the words of the command are read. */
  target?: KnownTarget;
  /** `--timeout` in milliseconds. */
  timeout?: number;
}

interface Reporting extends FailureFacts {
  readonly screen: Screen;
  readonly json: JsonForm | undefined;
  readonly verbose: boolean;
}

/** Ends a command with an exit code. Its errors are already reported. */
export class Reported extends Error {
  override readonly name = "Reported";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super("The errors of this command are already reported.");
    this.exitCode = exitCode;
  }
}

/** Reports an error as a JSON document or as lines on stderr, and returns the exit code. */
export async function reportError(error: unknown, reporting: Reporting): Promise<number> {
  const { screen, json, verbose } = reporting;
  const exitCode = exitCodeOf(error);
  screen.endProgress();
  if (error instanceof Reported) return exitCode;
  // The questions are already shown.
  if (error instanceof UnansweredError && !json) {
    if (error.cause !== undefined) await reportError(error.cause, reporting);
    return exitCode;
  }
  if (json) {
    await printJson({ error: errorDocument(error, reporting) }, { screen }, json);
    return exitCode;
  }
  const prefix = error instanceof ToolError ? "The tool failed:" : "mcparley:";
  const text = paragraph(`${prefix} ${messageOf(error, reporting)}`, screen.err);
  screen.note(screen.err.style.red(prefix) + text.slice(prefix.length));
  const hint = hintOf(error, reporting);
  if (hint !== undefined) screen.note(paragraph(hint, screen.err, "  "));
  const help = helpFor(error);
  const stderr = stderrOf(error, reporting);
  // The error of a process that has ended contains the same lines, and `--verbose` has shown them.
  const hasExited = error instanceof LocalError && error.code === "exited";
  if (stderr !== "" && !verbose && !hasExited) {
    screen.note(`  The end of the server's stderr:\n${indentLines(stderr)}`);
  }
  const causes = withoutUrlSecrets(details(error), reporting.target?.url);
  if (verbose && causes !== "") screen.note(paragraph(causes, screen.err, "  "));
  if (help !== undefined) screen.note(`  More: ${help}`);
  return exitCode;
}

/** Returns an error as the member `error` of a JSON document. */
export function errorDocument(error: unknown, facts: FailureFacts): object {
  const message = messageOf(error, facts);
  const stderr = stderrOf(error, facts) || undefined;
  const base = { message, hint: hintOf(error, facts), help: helpFor(error), exitCode: exitCodeOf(error), stderr };
  if (error instanceof UsageError) return { code: "usage", ...base };
  if (error instanceof UnansweredError) {
    const cause = error.cause === undefined ? undefined : errorDocument(error.cause, facts);
    return { code: "unanswered", ...base, questions: error.questions, result: error.result, cause };
  }
  if (error instanceof ToolError) return { code: error.code, ...base, result: error.result };
  if (error instanceof ProtocolError) return { code: error.code, ...base, data: error.data };
  if (error instanceof LocalError) return { code: error.code, ...base, scopes: missingScopes(error) };
  return { code: "internal", ...base };
}

/** Returns the end of the stderr of a started server, if it may name the cause of the error. */
function stderrOf(error: unknown, { program }: FailureFacts): string {
  return failures.has(exitCodeOf(error)) ? (program?.tail() ?? "") : "";
}

function messageOf(error: unknown, { method, target }: FailureFacts): string {
  const message = error instanceof Error ? error.message : String(error);
  const text = withServerName(withoutUrlSecrets(message, target?.url), target ?? {});
  if (error instanceof LocalError) return withOptionNames(text);
  if (!(error instanceof ProtocolError)) return text;
  return `The server answered ${method === undefined ? "" : `${method} with `}${error.code}: ${text}`;
}

function hintOf(error: unknown, facts: FailureFacts): string | undefined {
  const { revisionKind, target } = facts;
  const output = `${messageOf(error, facts)}\n${stderrOf(error, facts)}`;
  const program = failures.has(exitCodeOf(error)) ? programHint(error, { ...facts, output }) : undefined;
  const hint = program ?? (revisionKind === "modern" && cannotAsk(error) ? earlierRevision : hintFor(error, target));
  return hint === undefined ? undefined : withTarget(hint, target);
}

function hintFor(error: unknown, target: KnownTarget | undefined): string | undefined {
  if (error instanceof UsageError) return error.hint;
  if (error instanceof UnansweredError) return answerHint(error);
  if (error instanceof ProtocolError && wants("sampling", error))
    return "Answer in place of a model with --sample TEXT.";
  if (error instanceof ProtocolError && wants("roots", error))
    return "Declare the folder that the server may use with --root DIR.";
  if (!(error instanceof LocalError)) return undefined;
  const notRevoked = notRevokedHint(error);
  if (notRevoked !== undefined) return notRevoked;
  if (/^(?:unauthorized|authorization_failed)$/.test(error.code)) return accessHint(error, target);
  if (/^sign_in_(?:required|failed)$/.test(error.code)) return signInHint(error);
  if (error.code === "too_large") return largerReply(error);
  if (error.code === "timeout" && /did not return from the sign-in/.test(error.message)) return notReturned;
  if (error.code === "timeout") return "Wait longer with --timeout, such as --timeout 5m.";
  return undefined;
}

/** Returns the options that answer the questions. The call is made again, because a command does not keep it open. */
function answerHint({ questions }: UnansweredError): string {
  const options = [...new Set(questions.flatMap((question) => question.options ?? []))];
  if (options.length === 0) return "Run the command at a terminal, where it asks you.";
  return `Run the command again with ${options.join(" ")}, or at a terminal, where it asks you.`;
}

const notReturned =
  "If the page named an unknown client, register another one: mcparley login TARGET --new-client. For other errors of the page, ask the administrator of your account. To wait longer, use --timeout, such as --timeout 20m.";

/** Returns the option for a reply that is over its limit. The errors of other limits have no `limit`. */
function largerReply({ data }: LocalError): string | undefined {
  if (!isObject(data) || typeof data.limit !== "number" || data.limit >= largestReply) return undefined;
  const requiredBytes = Math.min(typeof data.bytes === "number" ? data.bytes : 4 * data.limit, largestReply);
  return `Allow larger replies with --max-reply, such as --max-reply ${Math.ceil(requiredBytes / 1024 ** 2)}MiB.`;
}

function indentLines(text: string): string {
  return printable(text)
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}

const earlierRevision =
  'The server may be able to ask you on an earlier revision: --revision 2025-11-25 (with --sample TEXT if it asks a model). To remember it, write "revision": "2025-11-25" into the entry of the server in mcp.json.';

/** Error texts of servers in that case: FastMCP, the SDKs of Python and TypeScript, and mcp-go. */
const cannotAskTexts: readonly RegExp[] = [
  /(?:elicitation|server-initiated (?:requests?|sampling)|server-to-client requests?)\b[^.\n]{0,100}\b(?:not (?:supported|available)|unsupported|unavailable)/i,
  /cannot send '(?:elicitation|sampling|roots)\//i,
  /does not support (?:elicitation|sampling|roots)\b/i,
];

/**
 * Whether a server failed because it cannot send input requests. Some servers support only server-initiated requests, which
 * exist up to 2025-11-25. Their errors have no specific code, so the text is matched.
 */
function cannotAsk(error: unknown): boolean {
  const isFromServer = error instanceof ToolError || error instanceof ProtocolError;
  return isFromServer && saysCannotAsk(error.message);
}

/** Returns whether an error text of a server says that it cannot send input requests. */
export function saysCannotAsk(text: string): boolean {
  return cannotAskTexts.some((pattern) => pattern.test(text.slice(0, 4_000)));
}

/** Whether a server refused a request because the client lacks a capability. Earlier revisions have no specific code. */
function wants(capability: string, { data }: ProtocolError): boolean {
  return isObject(data) && isObject(data.requiredCapabilities) && capability in data.requiredCapabilities;
}

/** Returns the causes of an error, and the stack of an unexpected one. */
function details(error: unknown): string {
  const lines: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause !== error) lines.push(`caused by ${cause.name}: ${visibleLine(withOptionNames(cause.message))}`);
    if (exitCodeOf(cause) === 70 && cause.stack) lines.push(cause.stack);
  }
  return lines.join("\n");
}

const localCodes: Record<LocalErrorCode, number> = {
  timeout: exitCodes.timeout,
  aborted: exitCodes.interrupted,
  closed: exitCodes.unreachable,
  exited: exitCodes.unreachable,
  unreachable: exitCodes.unreachable,
  address_unavailable: exitCodes.unreachable,
  session_lost: exitCodes.unreachable,
  store_unavailable: exitCodes.unreachable,
  unauthorized: exitCodes.authorization,
  forbidden_url: exitCodes.authorization,
  sign_in_required: exitCodes.authorization,
  sign_in_failed: exitCodes.authorization,
  authorization_failed: exitCodes.authorization,
  unsupported_revision: exitCodes.protocol,
  not_capable: exitCodes.protocol,
  invalid_message: exitCodes.protocol,
  invalid_result: exitCodes.protocol,
  too_large: exitCodes.protocol,
  http: exitCodes.protocol,
  declined: exitCodes.declined,
  cancelled: exitCodes.declined,
  unusable_storage: exitCodes.usage,
  invalid_target: exitCodes.usage,
  invalid_definition: exitCodes.internal,
};

/** The exit codes of failures for which the stderr of a started server may name the cause. */
const failures: ReadonlySet<number> = new Set([
  exitCodes.protocol,
  exitCodes.unreachable,
  exitCodes.toolError,
  exitCodes.timeout,
]);

/** Returns the exit code of an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Reported) return error.exitCode;
  if (error instanceof UnansweredError) return exitCodes.declined;
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof ToolError) return exitCodes.toolError;
  if (error instanceof ProtocolError) return exitCodes.protocol;
  if (error instanceof LocalError && isDeniedByUser(error)) return exitCodes.declined;
  if (error instanceof LocalError) return localCodes[error.code] ?? exitCodes.protocol;
  return exitCodes.internal;
}
