import type { JsonObject } from "mcparley";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import type { CallActivity } from "../activity/active-calls.ts";
import type { ApprovalAnswer, ApprovalRequest, CallOrigin } from "../renderer/renderer.ts";
import { canonicalJson, hashOfJson, maxDepth } from "./canonical.ts";
import { ignoreErrors } from "../values/errors.ts";
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
  | { readonly isAllowed: true; readonly arguments: JsonObject; readonly isEdited: boolean }
  | { readonly isAllowed: false; readonly message: string };

/** The decision of the rules and of earlier answers. */
interface Verdict {
  readonly decision: Decision;
  readonly source: "rule" | "remembered";
  readonly rule?: Rule;
}

/** The reason of a decision, for the record. The arguments are those to send, or of a denied call those that were asked for. */
type Reason = Pick<DecisionRecord, "by" | "rule" | "isEdited"> & { readonly args?: JsonObject };

/** Decides on tool calls: by the accepted definition, the rules, and then the person. */
export class CallConsent {
  readonly #parts: ConsentParts;
  readonly #definitions: DefinitionReview;
  readonly #file: RulesFile;
  /** The tools that are allowed in this session: by server, its identity, the name and the hash of the definition. */
  readonly #allowedTools = new Map<string, Set<string>>();

  constructor(parts: ConsentParts, definitions: DefinitionReview) {
    this.#parts = parts;
    this.#definitions = definitions;
    this.#file = rulesFile(parts.storage, parts.clock, (error) => parts.report(undefined, error));
  }

  /** Forgets the answers of this session for the tools of a server. */
  forget(server: string): void {
    this.#allowedTools.delete(server);
  }

  /** Decides whether a tool may be called, and with which arguments. Rejects only with the reason of the signal. */
  async check(call: CallToCheck, signal: AbortSignal): Promise<CallDecision> {
    signal.throwIfAborted();
    if (!this.#isUsable(call)) return this.#refuse(call, { by: "unreviewed" });
    const args = asJson(call.arguments);
    if (!args) return this.#refuse(call, { by: "limit" });
    let verdict = await this.#judge(call, args);
    signal.throwIfAborted();
    if (verdict.decision !== "ask") return this.#apply(verdict, call, args);
    const { approve } = this.#parts.renderer;
    if (!approve) return this.#refuse(call, { by: "no-renderer", args });
    const question = async (): Promise<ApprovalAnswer | undefined> => {
      // An answer to an earlier question of the queue may have decided on this call too.
      verdict = await this.#judge(call, args);
      if (verdict.decision !== "ask" || !this.#isUsable(call)) return undefined;
      notify(call, "waiting");
      const answer = checkedAnswer(await approve(requestFor(call, args), signal));
      // Before the next question, which the answer may make unnecessary.
      await this.#remember(answer, call, args);
      return answer;
    };
    const answer = await this.#parts.ask(call.tool.server, question, signal);
    return verdict.decision === "ask" ? this.#applyAnswer(answer, call, args) : this.#apply(verdict, call, args);
  }

  #isUsable({ tool: { server, tool } }: CallToCheck): boolean {
    return this.#definitions.isUsable(server, "tool", { name: tool.name, definition: tool });
  }

  /** Decides by the rules and by earlier answers. */
  async #judge({ tool }: CallToCheck, args: JsonObject): Promise<Verdict> {
    const subject = this.#subjectOf(tool, args);
    const match = matchRules([...(this.#parts.policy.rules ?? []), ...(await this.#file.read())], subject);
    if (match && match.decision !== "allow") return { ...match, source: "rule" };
    if (match) return { ...match, source: match.rule.definition === undefined ? "rule" : "remembered" };
    const isAllowed = this.#allowedTools.get(tool.server)?.has(sessionKey(subject));
    return { decision: isAllowed ? "allow" : "ask", source: "remembered" };
  }

  #apply({ decision, source, rule }: Verdict, call: CallToCheck, args: JsonObject): CallDecision {
    const reason = { by: source, args, ...(rule && { rule }) };
    return decision === "deny" ? this.#refuse(call, reason) : this.#admit(call, args, reason);
  }

  /** Applies the answer of the person. Without a valid answer the call is denied. */
  async #applyAnswer(answer: ApprovalAnswer | undefined, call: CallToCheck, args: JsonObject): Promise<CallDecision> {
    const finalArgs = answer?.arguments === undefined ? args : asJson(answer.arguments);
    if (answer?.action !== "allow" || !finalArgs) {
      notify(call, "denied");
      return this.#refuse(call, { by: this.#isUsable(call) ? "person" : "unreviewed", args }, answer?.reason);
    }
    const isEdited = canonicalJson(finalArgs) !== canonicalJson(args);
    if (isEdited) {
      const { decision, rule } = await this.#judge(call, finalArgs);
      if (decision === "deny") {
        notify(call, "denied");
        return this.#refuse(call, { by: "rule", args: finalArgs, ...(rule && { rule }), isEdited });
      }
    }
    const decision = this.#admit(call, finalArgs, { by: "person", ...(isEdited && { isEdited }) });
    notify(call, decision.isAllowed ? "approved" : "denied");
    return decision;
  }

  /** Allows a call, unless its definition changed during the question or the reading of the rules. */
  #admit(call: CallToCheck, args: JsonObject, reason: Reason): CallDecision {
    if (!this.#isUsable(call)) return this.#refuse(call, { by: "unreviewed", args });
    this.#record(call, "allowed", { ...reason, args });
    return { isAllowed: true, arguments: args, isEdited: reason.isEdited === true };
  }

  /** Records a denial, and returns it with a message for the model. The message does not contain the rule. */
  #refuse(call: CallToCheck, reason: Reason, words?: string): CallDecision {
    this.#record(call, "denied", reason);
    const name = `The tool ${JSON.stringify(call.tool.tool.name)} of the server ${JSON.stringify(call.tool.server)}`;
    const why = typeof words === "string" && words !== "" ? ` Reason: ${words}` : "";
    return { isAllowed: false, message: `${name} was not called: ${explain(reason.by)}${why}` };
  }

  #record({ tool }: CallToCheck, outcome: DecisionRecord["outcome"], { args, ...reason }: Reason): void {
    const argumentsHash = args && hashOfJson(args);
    const subject = { subject: "call", server: tool.server, name: tool.tool.name } as const;
    this.#parts.decide({ ...subject, outcome, ...reason, ...(argumentsHash && { argumentsHash }) });
  }

  /** Remembers an answer that holds for later calls: in this session, or as a rule that is bound to the definition and to the server. */
  async #remember({ action, remember }: ApprovalAnswer, call: CallToCheck, args: JsonObject): Promise<void> {
    // The answer does not hold for a definition that changed, or a server that was removed, during the question.
    if (action !== "allow" || !remember || !this.#isUsable(call)) return;
    const subject = this.#subjectOf(call.tool, args);
    const { server, tool, definition, identity } = subject;
    this.#allowedTools.set(server, (this.#allowedTools.get(server) ?? new Set()).add(sessionKey(subject)));
    if (remember !== "always") return;
    try {
      if (`${server}${tool}`.includes("*")) {
        throw new Error(
          `The name of the tool or server contains "*", so a rule would match others. The answer holds for this session.`,
        );
      }
      await this.#file.remember({ decision: "allow", server, tool, definition, identity: identity! });
    } catch (error) {
      this.#parts.report(server, error as Error);
    }
  }

  #subjectOf({ server, tool }: CatalogueTool, args: JsonObject): RuleSubject {
    const { name, annotations } = tool;
    const identity = this.#definitions.identity(server);
    return { server, tool: name, annotations, arguments: args, definition: liveHash("tool", tool), identity };
  }
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

function explain(cause: DecisionRecord["by"]): string {
  switch (cause) {
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

function notify({ onActivity }: CallToCheck, state: "waiting" | "approved" | "denied"): void {
  ignoreErrors(() => onActivity?.({ type: "approval", state }));
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
