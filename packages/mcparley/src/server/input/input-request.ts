import { type ClientCapabilities, type InputKind, canRequest } from "../../mcp/capabilities.ts";
import { isPriority } from "../../mcp/checks/check-metadata.ts";
import { checkBlock, checkEach, checkMeta, checkRole, invalid } from "../../mcp/checks/check-content.ts";
import { findUnsafe } from "../../mcp/checks/safe-url.ts";
import type { ElicitParams, ElicitResult } from "../../mcp/elicitation.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import type { InputRequest } from "../../mcp/input-required.ts";
import { toRequestedSchema } from "../../mcp/form-schema.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { latestModern } from "../../mcp/revisions/index.ts";
import { omit } from "../../mcp/revisions/encoder.ts";
import type { CreateMessageParams } from "../../mcp/sampling.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { compileSchema } from "../../schema/validation/compile-schema.ts";
import type { Call } from "../core/call.ts";
import type { ServerCore } from "../core/server-core.ts";
import { findWrongId } from "./url-required.ts";

/**
 * Checks an input request before it is sent. Throws a TypeError or SchemaError if its params are invalid, and -32021 if the
 * revision does not have the required capability, or the client has not declared it.
 */
export function checkRequest(
  call: Call,
  { method, params, requires }: { method: string; params: JsonObject; requires: ClientCapabilities },
): void {
  checkMeta(params._meta);
  if (method === Method.elicit) checkElicitation(params);
  if (method === Method.createMessage) checkSampling(params);
  requireCapability(call, requires);
}

function checkElicitation({ mode = "form", message, url, requestedSchema, elicitationId }: JsonObject): void {
  if (typeof message !== "string") throw invalid("message", "a string", message);
  if (mode === "url") {
    const unsafe = findUnsafe(url) ?? (elicitationId === undefined ? undefined : findWrongId(elicitationId));
    if (unsafe) throw new TypeError(`elicit: ${unsafe}`);
  } else if (mode !== "form") throw invalid("mode", '"form" or "url"', mode);
  else toRequestedSchema(requestedSchema as JsonObject);
}

const priorities = ["costPriority", "speedPriority", "intelligencePriority"];

function checkSampling(params: JsonObject): void {
  const { messages, maxTokens, temperature, modelPreferences = {}, tools = [] } = params;
  checkEach(messages, "messages", checkMessage);
  if (!Number.isSafeInteger(maxTokens)) throw invalid("maxTokens", "an integer", maxTokens);
  if (temperature !== undefined && !Number.isFinite(temperature)) throw invalid("temperature", "a number", temperature);
  if (!isObject(modelPreferences)) throw invalid("modelPreferences", "an object");
  for (const name of priorities) {
    const value = modelPreferences[name];
    if (value !== undefined && !isPriority(value)) throw invalid(`modelPreferences.${name}`, "from 0 to 1", value);
  }
  checkEach(tools, "tools", ({ name, inputSchema }, where) => {
    if (typeof name !== "string") throw invalid(`${where}.name`, "a string", name);
    try {
      compileSchema(inputSchema as JsonObject, "input");
    } catch (cause) {
      throw new TypeError(`${where}.inputSchema: ${(cause as Error).message}`, { cause });
    }
  });
}

/** Checks a message of a conversation: its blocks are content, tool uses and results of tools. */
function checkMessage({ role, content, _meta }: JsonObject, where: string): void {
  checkRole(role, where);
  checkMeta(_meta, `${where}._meta`);
  if (Array.isArray(content)) return checkEach(content, `${where}.content`, checkSampled);
  if (!isObject(content)) throw invalid(`${where}.content`, "a content block or a list of them");
  checkSampled(content, `${where}.content`);
}

function checkSampled(block: JsonObject, where: string): void {
  if (block.type === "tool_use") return;
  if (block.type === "tool_result") checkEach(block.content, `${where}.content`, checkBlock);
  else checkBlock(block, where);
}

/** A revision with every request, to find out whether the client lacks a capability or the revision. */
const everyRequest = { serverRequests: new Set([Method.elicit]), inputModes: true };

/** Throws -32021, naming the capability, if the client does not have the required capability. */
function requireCapability({ peer, revision, session }: Call, requiredCapabilities: ClientCapabilities): void {
  const kind = kindOf(requiredCapabilities);
  if (kind === undefined || canRequest(kind, peer.capabilities, revision)) return;
  const names = Object.keys(requiredCapabilities).flatMap((name) => {
    const inner = Object.keys((requiredCapabilities[name] as JsonObject | undefined) ?? {});
    return inner.length === 0 ? [name] : inner.map((part) => `${name}.${part}`);
  });
  const isDeclared = canRequest(kind, peer.capabilities, everyRequest);
  const cure = `Use an endpoint with sessions, or a client of ${latestModern.version}`;
  const reason = session?.isTransient
    ? `but the endpoint has no sessions (sessions: false), so nothing can be requested on revision ${revision.version}. ${cure}`
    : `which ${isDeclared ? `revision ${revision.version} does not have` : "the client has not declared"}`;
  throw new ProtocolError(
    ErrorCode.MissingRequiredClientCapability,
    `This request needs the client capability ${names.join(", ")}, ${reason}.`,
    { data: { requiredCapabilities } },
  );
}

function kindOf({ elicitation, sampling, roots }: ClientCapabilities): InputKind | undefined {
  if (elicitation) return elicitation.url ? "elicit.url" : "elicit";
  if (sampling) return sampling.tools ? "sample.tools" : "sample";
  return roots && "roots";
}

/** Returns the capability that an input request requires. */
export function capabilityFor(method: string, params: JsonObject): ClientCapabilities {
  const [feature] = method.split("/");
  if (feature === "elicitation") return { elicitation: params.mode === "url" ? { url: {} } : { form: {} } };
  if (feature === "sampling") return { sampling: params.tools || params.toolChoice ? { tools: {} } : {} };
  return { roots: {} };
}

/** An input request as the revision of its call expresses it, and a function that reads the response. */
interface EncodedRequest {
  params: JsonObject;
  decode: (result: JsonObject) => JsonObject;
}

/** Encodes an input request for the revision of its call. Its params are those that `checkRequest` accepted. */
export function encodeRequest(call: Call, method: string, params: JsonObject): EncodedRequest {
  const { core, encoder, revision, peer } = call;
  if (method === Method.elicit) {
    if (isObject(params.requestedSchema)) warnOfSecrets(core, params.requestedSchema);
    // Visits have ids only in the revision that announces when they are complete.
    const hasIds = revision.serverNotifications.has(Notification.elicitationComplete);
    const supportedParams = hasIds ? params : omit(params, "elicitationId");
    const { params: encodedParams, decode } = encoder.elicitation(supportedParams as unknown as ElicitParams);
    return {
      params: { ...encodedParams },
      decode: (result) =>
        withRequested({ ...decode(result as unknown as ElicitResult) }, requestedNames({ method, params })),
    };
  }
  if (method !== Method.createMessage) return { params, decode: (result) => result };
  // A client that has not declared the capability does not know this member (client/sampling, Capabilities).
  const hasContext = !revision.inputModes || peer.capabilities.sampling?.context;
  const supportedParams = hasContext ? params : omit(params, "includeContext");
  const encodedParams = encoder.createMessage(supportedParams as unknown as CreateMessageParams);
  return { params: { ...encodedParams }, decode: (result) => result };
}

/**
 * The names of the members that the content of a response may have. Null if it has no content, as for a URL. Undefined if it is no
 * answer to an elicitation.
 */
type RequestedNames = readonly string[] | null | undefined;

/** Returns the names that an input request asks for. Its params are those that `checkRequest` accepted. */
export function requestedNames({ method, params = {} }: InputRequest): RequestedNames {
  if (method !== Method.elicit) return undefined;
  const { requestedSchema } = params;
  return isObject(requestedSchema) ? Object.keys(Object(requestedSchema.properties)) : null;
}

/** Returns the response to an input request without members that were not requested. */
export function withRequested(response: JsonObject, names: RequestedNames): JsonObject {
  const { content, ...result } = response;
  if (names === null) return result;
  if (!names || !isObject(content)) return response;
  return { ...result, content: Object.fromEntries(Object.entries(content).filter(([name]) => names.includes(name))) };
}

const secretName =
  /(^|_)(password|passwd|passphrase|passcode|pin|secret|token|otp|cvv|cvc|api_?key|access_?key|private_?key|(credit_?)?card_?number)($|_)/;

/** The schemas of forms whose fields were checked, by server. */
const checkedForms = new WeakMap<ServerCore, WeakSet<JsonObject>>();

/** Warns of fields of a form whose names or formats are those of secrets (client/elicitation, User Interaction Model). */
export function warnOfSecrets(core: ServerCore, schema: JsonObject): void {
  const checked = checkedForms.get(core) ?? new WeakSet();
  checkedForms.set(core, checked);
  const { properties } = schema;
  if (checked.has(schema) || !isObject(properties)) return;
  checked.add(schema);
  for (const [name, field] of Object.entries(properties)) {
    const words = name
      .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
      .replaceAll(/[^a-z\d]+/gi, "_")
      .toLowerCase();
    const isSecret = (isObject(field) && field.format === "password") || secretName.test(words);
    if (!isSecret) continue;
    const cure = "Forms must not ask for secrets. Send the user to a page instead: ctx.elicit({ message, url }).";
    core.warn(`A form asks for "${name.slice(0, 80)}". ${cure}`);
  }
}
