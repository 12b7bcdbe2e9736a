import type { CompleteResult, GetPromptResult, ReadResourceResult } from "mcparley";
import type { CompletionReference } from "mcparley/client";
import type { CataloguePrompt } from "../catalogue/catalogue.ts";
import type { CallSteps } from "./call.ts";

/** A request for suggestions. */
export interface HostCompletion {
  /** The prompt or the template at the server. */
  readonly ref: CompletionReference;
  /** The argument, and the text that the user has typed. */
  readonly argument: { readonly name: string; readonly value: string };
  /** The arguments that are known already. */
  readonly context?: Record<string, string>;
}

/** Returns the steps of the expansion of a prompt. */
export function promptCall(
  { server, prompt: { name } }: CataloguePrompt,
  args: Record<string, string>,
): CallSteps<GetPromptResult> {
  return { server, method: "prompts/get", name, send: (client, options) => client.getPrompt(name, args, options) };
}

/** Returns the steps of the reading of a resource. */
export function resourceCall(server: string, uri: string): CallSteps<ReadResourceResult> {
  return { server, method: "resources/read", name: uri, send: (client, options) => client.readResource(uri, options) };
}

/** Returns the steps of a request for suggestions. */
export function completionCall(
  server: string,
  { ref, argument, context }: HostCompletion,
): CallSteps<CompleteResult["completion"]> {
  return {
    server,
    method: "completion/complete",
    name: argument.name,
    send: (client, options) => client.complete(ref, { ...argument }, { ...options, ...(context && { context }) }),
  };
}
