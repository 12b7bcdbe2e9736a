import { ErrorCode, ProtocolError } from "mcparley";
import type { CreateMessageParams } from "mcparley/client";
import { isObject } from "@mcparley/internal/is-object";
import type { ModelTool } from "../model/model-request.ts";
import { uniqueNames } from "../values/unique-names.ts";

/** The names of the tools of a sampling request, in the form that model providers accept. */
export interface ToolNames {
  readonly tools: readonly ModelTool[];
  /** Returns the name for the model. A name that is not in the request, such as one in an earlier message, is also converted. */
  forModel(this: void, name: string): string;
  /** Returns the name of the server for a name that the model wrote. */
  forServer(this: void, name: string): string;
}

/** Returns the names of the tools that a server offers to the model. Throws a `ProtocolError` for an invalid definition. */
export function toolNames(tools: CreateMessageParams["tools"]): ToolNames {
  const entries: unknown[] = Array.isArray(tools) ? tools : [];
  const toModel = new Map<string, string>();
  const toServer = new Map<string, string>();
  const unused = uniqueNames();
  const forModel = (name: string): string => {
    const known = toModel.get(name);
    if (known !== undefined) return known;
    const converted = convertedName(name, unused);
    toModel.set(name, converted);
    toServer.set(converted, name);
    return converted;
  };
  const definitions = entries.map((tool, index): ModelTool => {
    if (!isObject(tool) || typeof tool.name !== "string" || !isObject(tool.inputSchema)) {
      const message = `params.tools[${index}] must have a name and an inputSchema`;
      throw new ProtocolError(ErrorCode.InvalidParams, message);
    }
    const { name, description, inputSchema } = tool;
    return { name: forModel(name), description: typeof description === "string" ? description : "", inputSchema };
  });
  return { tools: definitions, forModel, forServer: (name) => toServer.get(name) ?? name };
}

/** Returns a name of at most 64 letters, digits, `_` and `-`, which all large providers accept. */
function convertedName(name: string, unused: (name: string, base?: string) => string): string {
  const base = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 56) || "tool";
  return unused(/^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : base, base);
}
