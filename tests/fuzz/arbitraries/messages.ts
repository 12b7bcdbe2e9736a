import fc from "fast-check";
import { MetaKey } from "../../../packages/mcparley/src/mcp/methods.ts";
import { supportedVersions } from "../../../packages/mcparley/src/mcp/revisions/index.ts";

/** Any JSON value, including keys that careless code mishandles. */
export const jsonValue: fc.Arbitrary<unknown> = fc
  .object({
    key: fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom("__proto__", "constructor", "toString", "", "name", "type"),
    ),
    maxDepth: 3,
    maxKeys: 4,
    values: [
      fc.string({ unit: "binary", maxLength: 5 }),
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom(1e308, -0, 2 ** 53, "\ud800"),
    ],
  })
  // Converted to JSON and back, so that a peer could send it: `-0`, `__proto__` as an own key, no undefined.
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

const requestMethods = [
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "completion/complete",
  "logging/setLevel",
  "subscriptions/listen",
  "sampling/createMessage",
  "elicitation/create",
  "roots/list",
  "tasks/get",
];
const notificationMethods = [
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/roots/list_changed",
  "notifications/tools/list_changed",
  "notifications/resources/updated",
  "notifications/message",
  "notifications/subscriptions/acknowledged",
  "notifications/elicitation/complete",
];

/** Mostly a valid value, sometimes any value. */
export function mostly<T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: jsonValue });
}

const id = fc.constantFrom<unknown>(0, 1, 2, "0", "1", "a", 1.5, null, -1, 2 ** 53);
const version = fc.constantFrom(...supportedVersions, "2030-01-01", "");
const capabilities = fc.record(
  {
    roots: mostly(fc.constant({})),
    sampling: mostly(fc.constant({})),
    elicitation: mostly(fc.constantFrom({}, { form: {} }, { url: {} })),
  },
  { requiredKeys: [] },
);

const meta = fc.record(
  {
    [MetaKey.protocolVersion]: mostly(version),
    [MetaKey.clientInfo]: mostly(fc.constant({ name: "fuzz", version: "1" })),
    [MetaKey.clientCapabilities]: mostly(capabilities),
    [MetaKey.logLevel]: mostly(fc.constantFrom("debug", "error", "loud")),
    progressToken: mostly(fc.constantFrom<unknown>(0, 1, "a")),
  },
  { requiredKeys: [] },
);

const params = fc.record(
  {
    name: mostly(fc.constantFrom("echo", "ask", "sum", "hello", "nope", "__proto__")),
    arguments: mostly(fc.constantFrom<unknown>({}, { text: "x" }, { region: "eu" }, { name: "Ada" })),
    uri: mostly(fc.constantFrom("note://a", "note://a/b%2F", "note://%FF", "x")),
    cursor: mostly(fc.constantFrom("YWZ0ZXI6MA==", "", "=", "YWZ0ZXI6OTk5OTk5OTk5OTk5OTk5OTk5OTk=")),
    ref: mostly(
      fc.constantFrom<unknown>({ type: "ref/prompt", name: "hello" }, { type: "ref/resource", uri: "note://{id}" }),
    ),
    argument: mostly(fc.constantFrom({ name: "name", value: "A" }, { name: "id", value: "" })),
    level: mostly(fc.constantFrom("debug", "emergency")),
    requestState: mostly(fc.constantFrom("", "AAAA", "A".repeat(64))),
    inputResponses: mostly(fc.constantFrom<unknown>({}, { "0": { action: "accept", content: {} } })),
    protocolVersion: mostly(version),
    capabilities: mostly(capabilities),
    clientInfo: mostly(fc.constant({ name: "fuzz", version: "1" })),
    requestId: mostly(id),
    progressToken: mostly(id),
    progress: mostly(fc.integer()),
    notifications: mostly(
      fc.constantFrom<unknown>({ toolsListChanged: true }, { resourceSubscriptions: ["note://a"] }),
    ),
    message: mostly(fc.constant("Well?")),
    requestedSchema: mostly(fc.constant({ type: "object", properties: { ok: { type: "boolean" } } })),
    mode: mostly(fc.constantFrom("form", "url")),
    url: mostly(fc.constant("https://example.com")),
    messages: mostly(fc.constant([{ role: "user", content: { type: "text", text: "hi" } }])),
    maxTokens: mostly(fc.constant(5)),
    _meta: mostly(meta),
  },
  { requiredKeys: [] },
);

const request = fc.record(
  {
    jsonrpc: mostly(fc.constant("2.0")),
    id: mostly(id),
    method: mostly(fc.constantFrom(...requestMethods)),
    params: mostly(params),
  },
  { requiredKeys: ["jsonrpc", "id", "method"] },
);
const notification = fc.record(
  { jsonrpc: fc.constant("2.0"), method: mostly(fc.constantFrom(...notificationMethods)), params: mostly(params) },
  { requiredKeys: ["jsonrpc", "method"] },
);
const response = fc.oneof(
  fc.record({ jsonrpc: fc.constant("2.0"), id: mostly(id), result: jsonValue }),
  fc.record({
    jsonrpc: fc.constant("2.0"),
    id: mostly(id),
    error: mostly(fc.record({ code: mostly(fc.integer()), message: mostly(fc.string()) })),
  }),
);

/** Inputs of a peer: nearly valid messages, and values that are no messages. */
export const anyMessage: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: request },
  { weight: 3, arbitrary: notification },
  { weight: 2, arbitrary: response },
  { weight: 1, arbitrary: jsonValue },
  { weight: 1, arbitrary: fc.array(fc.oneof(request, notification, jsonValue), { maxLength: 3 }) },
);
