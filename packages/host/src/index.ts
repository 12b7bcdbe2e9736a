/** A host of the Model Context Protocol: many servers, consent, sampling, context and the model loop. */
export { createHost } from "./host/create-host.ts";
export type { Host, HostCallOptions, HostEvent, HostOptions } from "./host/host.ts";
export type { HostCompletion } from "./calls/call.ts";
export type { HostServer, ServerEntry, ServerSettings } from "./servers/server-entry.ts";
export type { Awaitable, ServerTarget } from "./values/types.ts";
export type { CallActivity, InputKind } from "./activity/active-calls.ts";
export type { ServerEvent, ServerState } from "./supervision/server-state.ts";
export type { ProviderName } from "./catalogue/providers.ts";
export type { InputLimits } from "./input/input-context.ts";
export type { LanguageModel, ModelSetting } from "./model/language-model.ts";
export type { ModelRetry } from "./model/stream-model.ts";
export type { OriginUsage, TotalUsage, Usage } from "./values/usage.ts";
// These files have only types, all of which are public.
export type * from "./catalogue/catalogue.ts";
export type * from "./consent/policy.ts";
export type * from "./context/conversation-context.ts";
export type * from "./conversation/messages.ts";
export type * from "./loop/run-events.ts";
export type * from "./renderer/renderer.ts";
export { type TemplateVariable, templateVariables } from "./context/uri-template.ts";
export { estimateTokens } from "./model/tokens.ts";
export { serverTextRules } from "./conversation/server-text.ts";
export {
  type AiSdkCall,
  type AiSdkModelOutput,
  type AiSdkResult,
  type AiSdkTool,
  type AiSdkToolsOptions,
  toAiSdkTools,
} from "./host/ai-sdk-tools.ts";
