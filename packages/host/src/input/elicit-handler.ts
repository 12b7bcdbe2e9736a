import { formModel } from "@mcparley/internal/form-model";
import type { ElicitHandler, ElicitParams, ElicitResult, InputRequestSource } from "mcparley/client";
import type { FormRequest } from "../renderer/elicitation.ts";
import type { Renderer } from "../renderer/renderer.ts";
import { decide, type InputContext, originOf, withinLimits } from "./input-context.ts";
import { urlRequest } from "./url-request.ts";

/** Asks the user for each form and URL of a server. `serverHost` is the host name of the server's own URL, if it has one. */
export function elicitHandler(
  context: InputContext,
  renderer: Pick<Renderer, "form" | "url">,
  serverHost: string | undefined,
): ElicitHandler {
  const ask = async (params: ElicitParams, source: InputRequestSource): Promise<ElicitResult> => {
    const { signal } = source;
    const origin = originOf(context, source);
    if (params.mode === "url") {
      const request = urlRequest(params, origin, serverHost);
      // A missing method means no. The client has not declared the capability then.
      const { action } = await context.ask(() => renderer.url?.(request, signal) ?? declined, signal);
      return { action };
    }
    const request: FormRequest = {
      origin,
      message: params.message,
      ...formModel(params.requestedSchema, source.check),
    };
    const answer = await context.ask(() => renderer.form?.(request, signal) ?? declined, signal);
    return answer.action === "accept" ? { action: "accept", content: answer.content } : { action: answer.action };
  };
  return (params, source) => {
    const kind = params.mode === "url" ? "url" : "form";
    return withinLimits(context, { kind, source, isDeclined: ({ action }) => action !== "accept" }, async () => {
      const result = await ask(params, source);
      const outcome = result.action === "accept" ? "allowed" : "denied";
      decide(context, { subject: "elicitation", name: kind, outcome, by: "person" });
      return result;
    });
  };
}

const declined = { action: "decline" } as const;
