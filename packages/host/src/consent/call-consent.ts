import type { JsonObject } from "mcparley";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import type { CallActivity } from "../activity/active-calls.ts";
import type { ApprovalAnswer, ApprovalRequest, CallOrigin } from "../renderer/renderer.ts";
import { canonicalJson, hashOfJson, maxDepth } from "./canonical.ts";
import { ignoreErrors } from "../values/ignore-errors.ts";
import { isObject } from "@mcparley/internal/is-object";
import { isWithinDepth } from "../values/map-texts.ts";
import type { ConsentParts } from "./consent-parts.ts";
import type { DecisionRecord, Decision, Rule } from "./policy.ts";
import type { DefinitionReview } from "./definition-review.ts";
import { liveHash } from "./definitions.ts";
import { type RuleSubject, matchRules, type RulesFile, rulesFile } from "./rules.ts";
import { visibleJson } from "./text/visible-text.ts";

/** A tool call that needs consent. */
export interface CallToCheck {
  readonly tool: CatalogueTool;
  readonly arguments: JsonObject;
  readonly origin: CallOrigin;
  /** Called when the person is asked, and with the answer. */
  readonly onActivity?: ((activity: CallActivity) => void) | undefined;
}

/** The decision on a tool call. `arguments` are those to send. `message` is for the model. */
export type CallDecision =
  | { readonly allowed: true; readonly arguments: JsonObject; readonly isEdited: boolean }
  | { readonly allowed: false; readonly message: string };

/** Decides on a call. Rejects only with the reason of the signal. */
export type CheckCall = (call: CallToCheck, signal: AbortSignal) => Promise<CallDecision>;

/** The decision of the rules and of earlier answers. */
interface Standing {
  readonly decision: Decision;
  readonly by: "rule" | "remembered";
  readonly rule?: Rule;
}

/** A call while it is checked. */
interface Checking {
  readonly call: CallToCheck;
  /** The arguments as JSON, which nobody else can change. */
  readonly args: JsonObject;
  readonly standing: (args: JsonObject) => Promise<Standing>;
  readonly isUsable: () => boolean;
  /** Remembers an answer that holds for later calls. */
  readonly remember: (answer: ApprovalAnswer) => Promise<void>;
}

type Outcome = Pick<DecisionRecord, "outcome" | "by" | "rule" | "isEdited">;

/** Decides on tool calls. */
export interface CallConsent {
  readonly check: CheckCall;
  /** Forgets the answers of this session for the tools of a server. */
  forget(server: string): void;
}

/** Returns the functions that decide on tool calls: the pin, the rules, and then the person. */
export function callConsent(parts: ConsentParts, definitions: DefinitionReview): CallConsent {
  const file = rulesFile(parts.storage, parts.clock, (error) => parts.report(undefined, error));
  /** The tools that are allowed in this session: by server, its identity, the name and the hash of the definition. */
  const allowed = new Map<string, Set<string>>();

  const standing = async ({ tool }: CallToCheck, args: JsonObject): Promise<Standing> => {
    const subject = subjectOf(tool, args, definitions);
    const found = matchRules([...(parts.policy.rules ?? []), ...(await file.read())], subject);
    if (found && found.decision !== "allow") return { ...found, by: "rule" };
    if (found) return { ...found, by: found.rule.definition === undefined ? "rule" : "remembered" };
    return { decision: allowed.get(tool.server)?.has(sessionKey(subject)) ? "allow" : "ask", by: "remembered" };
  };

  const check: CheckCall = async (call, signal) => {
    signal.throwIfAborted();
    const { server, tool } = call.tool;
    const isUsable = (): boolean => definitions.isUsable(server, "tool", { name: tool.name, definition: tool });
    if (!isUsable()) return refuse(parts, call, { by: "unreviewed" });
    const args = asJson(call.arguments);
    if (!args) return refuse(parts, call, { by: "limit" });
    const remember = async ({ action, remember: duration }: ApprovalAnswer): Promise<void> => {
      if (action !== "allow" || !duration) return;
      // The answer does not hold for a definition that changed, or a server that was removed, during the question.
      if (!isUsable()) return;
      const subject = subjectOf(call.tool, args, definitions);
      allowed.set(server, (allowed.get(server) ?? new Set()).add(sessionKey(subject)));
      if (duration === "always") await rememberAlways(parts, file, subject);
    };
    return decideOnCall(
      parts,
      { call, args, isUsable, remember, standing: (edited) => standing(call, edited) },
      signal,
    );
  };
  return { check, forget: (server) => void allowed.delete(server) };
}

/** Decides by the rules, and otherwise by the person. */
async function decideOnCall(parts: ConsentParts, checking: Checking, signal: AbortSignal): Promise<CallDecision> {
  const { call, args } = checking;
  const first = await checking.standing(args);
  signal.throwIfAborted();
  if (first.decision !== "ask") return byStanding(parts, checking, first);
  const { approve } = parts.renderer;
  if (!approve) return refuse(parts, call, { by: "no-renderer", args });

  let later: Standing = first;
  const question = async (): Promise<ApprovalAnswer | undefined> => {
    // An answer to an earlier question of the queue may have decided on this call too.
    later = await checking.standing(args);
    if (later.decision !== "ask" || !checking.isUsable()) return undefined;
    notify(call, "waiting");
    const answer = checkedAnswer(await approve(requestFor(call, args), signal));
    // Before the next question, which the answer may make unnecessary.
    await checking.remember(answer);
    return answer;
  };
  const answer = await parts.ask(call.tool.server, question, signal);
  if (later.decision !== "ask") return byStanding(parts, checking, later);
  return byAnswer(parts, checking, answer);
}

function byStanding(parts: ConsentParts, checking: Checking, { decision, by, rule }: Standing): CallDecision {
  const { call, args } = checking;
  if (decision === "deny") return refuse(parts, call, { by, args, rule });
  return admit(parts, checking, { by, args, rule, isEdited: false });
}

/** Applies the answer of the person. Without a valid answer the call is denied. */
async function byAnswer(
  parts: ConsentParts,
  checking: Checking,
  answer: ApprovalAnswer | undefined,
): Promise<CallDecision> {
  const { call, args } = checking;
  const edited = answer?.arguments === undefined ? args : asJson(answer.arguments);
  if (answer?.action !== "allow" || !edited) {
    notify(call, "denied");
    const by = checking.isUsable() ? "person" : "unreviewed";
    return refuse(parts, call, { by, args, reason: answer?.reason });
  }
  const isEdited = canonicalJson(edited) !== canonicalJson(args);
  if (isEdited) {
    const { decision, rule } = await checking.standing(edited);
    if (decision === "deny") {
      notify(call, "denied");
      return refuse(parts, call, { by: "rule", args: edited, rule, isEdited });
    }
  }
  const decision = admit(parts, checking, { by: "person", args: edited, isEdited });
  notify(call, decision.allowed ? "approved" : "denied");
  return decision;
}

/** Allows a call, unless its definition changed during the question or the reading of the rules. */
function admit(
  parts: ConsentParts,
  { call, isUsable }: Checking,
  {
    by,
    args,
    rule,
    isEdited,
  }: Required<Pick<Refusal, "by" | "isEdited">> & { args: JsonObject; rule?: Rule | undefined },
): CallDecision {
  if (!isUsable()) return refuse(parts, call, { by: "unreviewed", args });
  record(parts, call, { outcome: "allowed", by, ...(rule && { rule }), ...(isEdited && { isEdited }), args });
  return { allowed: true, arguments: args, isEdited };
}

function requestFor({ tool, origin }: CallToCheck, args: JsonObject): ApprovalRequest {
  // A copy, so that the renderer cannot change the arguments without an answer.
  return {
    origin,
    server: tool.server,
    tool: tool.tool,
    arguments: structuredClone(args),
    shown: visibleJson(args, 2),
  };
}

/** Throws if the answer does not have the expected form, which is reported as an error of the renderer. */
function checkedAnswer(answer: ApprovalAnswer): ApprovalAnswer {
  const hasArguments = answer.arguments === undefined || isObject(answer.arguments);
  if ((answer.action === "allow" || answer.action === "deny") && hasArguments) return answer;
  throw new TypeError(
    'The answer of `approve` must have an `action` "allow" or "deny", and `arguments` that are an object.',
  );
}

/** Stores the rule of an answer that holds for always. It is bound to the definition, and to the identity of the server. */
async function rememberAlways(
  parts: ConsentParts,
  file: RulesFile,
  { server, tool, definition, identity }: RuleSubject,
): Promise<void> {
  try {
    if (`${server}${tool}`.includes("*")) {
      throw new Error(
        `The name of the tool or server contains "*", so a rule would match others. The answer holds for this session.`,
      );
    }
    await file.remember({ decision: "allow", server, tool, definition, identity: identity! });
  } catch (error) {
    parts.report(server, error as Error);
  }
}

interface Refusal {
  readonly by: DecisionRecord["by"];
  readonly args?: JsonObject;
  readonly rule?: Rule | undefined;
  readonly isEdited?: boolean;
  readonly reason?: string | undefined;
}

/** Records a denial, and returns it with a message for the model. The message does not contain the rule. */
function refuse(parts: ConsentParts, call: CallToCheck, { by, args, rule, isEdited, reason }: Refusal): CallDecision {
  record(parts, call, { outcome: "denied", by, ...(rule && { rule }), ...(isEdited && { isEdited }), args });
  const name = `The tool ${JSON.stringify(call.tool.tool.name)} of the server ${JSON.stringify(call.tool.server)}`;
  const why = typeof reason === "string" && reason !== "" ? ` Reason: ${reason}` : "";
  return { allowed: false, message: `${name} was not called: ${explain(by)}${why}` };
}

function explain(by: DecisionRecord["by"]): string {
  switch (by) {
    case "rule":
      return "a rule of the user denies this call. Do not try it again. Ask the user if there is no other way.";
    case "unreviewed":
      return "its definition is new or has changed, and the user has not accepted it. Ask the user to review the server.";
    case "no-renderer":
      return "it needs the approval of the user, and this host cannot ask. The user can add a rule that allows it.";
    case "limit":
      return "its arguments are not JSON, or are nested too deeply. Use simpler arguments.";
    default:
      return "the user denied this call. Do not try it again without a new request of the user.";
  }
}

function record(
  parts: ConsentParts,
  { tool }: CallToCheck,
  { args, ...outcome }: Outcome & { args: JsonObject | undefined },
): void {
  const hash = args && hashOfJson(args);
  parts.decide({
    subject: "call",
    server: tool.server,
    name: tool.tool.name,
    ...outcome,
    ...(hash && { argumentsHash: hash }),
  });
}

function notify({ onActivity }: CallToCheck, state: "waiting" | "approved" | "denied"): void {
  ignoreErrors(() => onActivity?.({ type: "approval", state }));
}

function subjectOf({ server, tool }: CatalogueTool, args: JsonObject, definitions: DefinitionReview): RuleSubject {
  const { name, annotations } = tool;
  const identity = definitions.identity(server);
  return { server, tool: name, annotations, arguments: args, definition: liveHash("tool", tool), identity };
}

function sessionKey({ tool, definition, identity }: RuleSubject): string {
  return JSON.stringify([identity, tool, definition]);
}

/** Returns a copy of the arguments as they would be sent, or undefined if they are no JSON object, or nested too deeply for a hash. */
function asJson(args: JsonObject): JsonObject | undefined {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(args));
    return isObject(copy) && isWithinDepth(copy, maxDepth) ? copy : undefined;
  } catch {
    return undefined;
  }
}
