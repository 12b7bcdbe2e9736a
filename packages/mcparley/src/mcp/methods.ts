/** The names of MCP's methods in all revisions. `revisions/` defines which revision has which method. */
export const Method = {
  initialize: "initialize",
  ping: "ping",
  discover: "server/discover",
  listTools: "tools/list",
  callTool: "tools/call",
  listPrompts: "prompts/list",
  getPrompt: "prompts/get",
  listResources: "resources/list",
  listResourceTemplates: "resources/templates/list",
  readResource: "resources/read",
  subscribe: "resources/subscribe",
  unsubscribe: "resources/unsubscribe",
  listen: "subscriptions/listen",
  complete: "completion/complete",
  setLevel: "logging/setLevel",
  createMessage: "sampling/createMessage",
  elicit: "elicitation/create",
  listRoots: "roots/list",
} as const;

/** The names of MCP's notifications in all revisions. */
export const Notification = {
  initialized: "notifications/initialized",
  cancelled: "notifications/cancelled",
  progress: "notifications/progress",
  message: "notifications/message",
  toolsChanged: "notifications/tools/list_changed",
  promptsChanged: "notifications/prompts/list_changed",
  resourcesChanged: "notifications/resources/list_changed",
  resourceUpdated: "notifications/resources/updated",
  rootsChanged: "notifications/roots/list_changed",
  acknowledged: "notifications/subscriptions/acknowledged",
  elicitationComplete: "notifications/elicitation/complete",
} as const;

/** The `_meta` keys that the specification reserves (2026-07-28, basic, `_meta`). */
export const MetaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** Labels separated by dots and a slash, then a name; both are optional (2026-07-28, basic, `_meta`). */
const keyPattern = /^(([a-z]([a-z0-9-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?\/)?([a-z0-9]([\w.-]*[a-z0-9])?)?$/i;
/** Maximum number of characters of a key. */
const maxLength = 256;

/** Returns whether the specification allows a key in `_meta`. */
export function isMetaKey(key: string): boolean {
  return key.length <= maxLength && keyPattern.test(key);
}
