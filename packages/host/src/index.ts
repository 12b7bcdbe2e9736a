/** A host of the Model Context Protocol: many servers, consent, sampling, context and the model loop. */
export { createHost } from "./host/create-host.ts";
export type { Host, HostCallOptions } from "./host/host.ts";
export type { HostCompletion } from "./calls/call.ts";
export type { HostOptions } from "./host/host.ts";
export type { ServerEntry, ServerSettings } from "./servers/server-entry.ts";
export type { ServerTarget } from "./values/types.ts";
export type { CallActivity, InputKind } from "./activity/active-calls.ts";
export type { HostEvent } from "./host/host.ts";
export type { HostServer } from "./servers/server-entry.ts";
export type { ServerEvent, ServerState } from "./supervision/server-state.ts";
export type {
  Catalogue,
  CatalogueChange,
  CataloguePrompt,
  CatalogueResource,
  CatalogueTemplate,
  CatalogueTool,
} from "./catalogue/catalogue.ts";
export type { ProviderName } from "./catalogue/providers.ts";
export type { SchemaLoss } from "./catalogue/catalogue.ts";
export type { ServerLists } from "./catalogue/catalogue.ts";
export type { ToolOutcome } from "./conversation/messages.ts";
export type { Awaitable } from "./values/types.ts";
export type { Renderer } from "./renderer/renderer.ts";
export type { ApprovalAnswer, ApprovalRequest, CallOrigin } from "./renderer/renderer.ts";
export type { DecisionRecord } from "./consent/policy.ts";
export type { Decision, Policy, Rule } from "./consent/policy.ts";
export type {
  DefinitionChange,
  DefinitionDifference,
  DefinitionKind,
  ReviewAnswer,
  ReviewRequest,
} from "./renderer/renderer.ts";
export type { ConfiguredEntry, ServerIdentity, TrustAnswer, TrustRequest } from "./renderer/renderer.ts";
export type {
  FieldProblem,
  FormAnswer,
  FormContent,
  FormField,
  FormOption,
  FormRequest,
  InputOrigin,
  UrlAnswer,
  UrlRequest,
} from "./renderer/renderer.ts";
export type { InputLimits } from "./input/input-context.ts";
export type { SampleAnswer, SampledAnswer, SampledRequest, SampleRequest } from "./renderer/renderer.ts";
export type { SignInAnswer, SignInRequest } from "./renderer/renderer.ts";
export type { LanguageModel, ModelSetting } from "./model/language-model.ts";
export type { ModelRetry } from "./model/stream-model.ts";
export type {
  AssistantPart,
  FilePart,
  Message,
  ReasoningPart,
  TextOrigin,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "./conversation/messages.ts";
export type { Run, RunEnd, RunEvent, RunOptions } from "./loop/run-events.ts";
export type { Usage } from "./model/model-request.ts";
export type {
  Attachment,
  Completion,
  CompletionRequest,
  ContextCallOptions,
  ContextOptions,
  Conversation,
  ConversationJson,
  ResourceName,
  StoredAttachment,
  TemplateInstance,
  UserCall,
} from "./context/conversation-context.ts";
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
