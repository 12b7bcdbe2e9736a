/** A host of the Model Context Protocol: many servers, consent, sampling, context and the model loop. */
export { createHost } from "./host/create-host.ts";
export type { Host, HostCallOptions, HostCompletion } from "./host/host.ts";
export type { HostOptions, ServerEntry, ServerSettings, ServerTarget } from "./options.ts";
export type { CallActivity, HostEvent, InputKind, ServerEvent } from "./events.ts";
export type { HostServer, ServerState } from "./servers/server-state.ts";
export type {
  Catalogue,
  CatalogueChange,
  CataloguePrompt,
  CatalogueResource,
  CatalogueTemplate,
  CatalogueTool,
} from "./catalogue/catalogue.ts";
export type { ProviderName } from "./catalogue/providers.ts";
export type { SchemaLoss } from "./catalogue/schema-loss.ts";
export type { ServerLists } from "./catalogue/server-lists.ts";
export type { ToolOutcome } from "./calls/tool-call.ts";
export type { Awaitable } from "./awaitable.ts";
export type { Renderer } from "./renderer.ts";
export type { ApprovalAnswer, ApprovalRequest, CallOrigin } from "./consent/approval.ts";
export type { DecisionRecord } from "./consent/decision-record.ts";
export type { Decision, Policy, Rule } from "./consent/policy.ts";
export type {
  DefinitionChange,
  DefinitionDifference,
  DefinitionKind,
  ReviewAnswer,
  ReviewRequest,
} from "./consent/review.ts";
export type { ServerIdentity, TrustAnswer, TrustRequest } from "./consent/trust.ts";
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
} from "./input/elicitation.ts";
export type { InputLimits } from "./input/input-limits.ts";
export type { SampleAnswer, SampledAnswer, SampledRequest, SampleRequest } from "./input/sampling.ts";
export type { LanguageModel, ModelSetting } from "./model/language-model.ts";
export type {
  AssistantPart,
  FilePart,
  Message,
  ReasoningPart,
  TextOrigin,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "./loop/conversation.ts";
export type { Run, RunEnd, RunEvent, RunOptions, Usage } from "./loop/run-events.ts";
export type {
  Attachment,
  Completion,
  CompletionRequest,
  ContextOptions,
  Conversation,
  ConversationJson,
  ResourceName,
  StoredAttachment,
  TemplateInstance,
} from "./context/conversation-context.ts";
export {
  type AiSdkCall,
  type AiSdkModelOutput,
  type AiSdkResult,
  type AiSdkTool,
  type AiSdkToolsOptions,
  toAiSdkTools,
} from "./loop/ai-sdk-tools.ts";
export { serverTextRules } from "./loop/text/server-text.ts";
