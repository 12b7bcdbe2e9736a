import { type JsonObject, printableJson } from "mcparley";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import type { Message } from "../conversation/messages.ts";
import type { TextLimits } from "../conversation/long-text.ts";
import { escapeTags } from "../conversation/server-text.ts";
import type { ToolOutcome } from "../conversation/tool-outcome.ts";
import { toResultPart } from "../conversation/tool-results.ts";

/**
 * Returns the message about a call that the user made: a sentence with the tool and the arguments that were sent, and then the content
 * that a model would receive as the result. Returns undefined if the call has no result of the server.
 */
export function userCallMessage(
  { tool: { name, server, tool }, arguments: args }: { tool: CatalogueTool; arguments: JsonObject },
  outcome: ToolOutcome,
  limits: TextLimits,
): Message | undefined {
  if (outcome.status !== "result") return undefined;
  // A message of the user has no call id.
  const { content, isError } = toResultPart({ callId: "", name, origin: { server, name: tool.name } }, outcome, limits);
  // The arguments can contain text that the user copied from a server.
  const json = escapeTags(printableJson(outcome.editedArguments ?? args));
  const result = isError ? "The tool returned this error:" : "The result is:";
  const sentence = `The user called the tool ${name} with the arguments ${json}. ${result}`;
  return { role: "user", content: [{ type: "text", text: sentence }, ...content] };
}
