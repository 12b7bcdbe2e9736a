import { type JsonObject, Prepared } from "../../rpc/messages.ts";
import type { Implementation } from "../capabilities.ts";
import { completeType } from "../input-required.ts";
import { MetaKey } from "../meta.ts";
import { Method } from "../methods.ts";
import type { GetPromptResult } from "../prompts.ts";
import type { ReadResourceResult } from "../resources.ts";
import type { CallToolResult } from "../tools.ts";
import type { Lowering } from "./lowering.ts";
import type { Revision } from "./revision.ts";

/** In whose words a result is said. */
export interface Wording {
  readonly revision: Revision;
  readonly lowering: Lowering;
  readonly method: string;
}

/**
 * Says a neutral result in the words of a revision: the last step before a result is serialised.
 *
 * List results are not lowered here; they are lowered entry by entry when a page is prepared.
 */
export function lowerResult(
  { revision, lowering, method }: Wording,
  result: JsonObject | Prepared,
  serverInfo: Implementation,
): JsonObject | Prepared {
  if (result instanceof Prepared) return result;
  let lowered: object = result;
  if (method === Method.callTool && "content" in result) {
    lowered = lowering.callToolResult(result as unknown as CallToolResult);
  } else if (method === Method.getPrompt && "messages" in result) {
    lowered = lowering.getPromptResult(result as unknown as GetPromptResult);
  } else if (method === Method.readResource && "contents" in result) {
    lowered = lowering.readResourceResult(result as unknown as ReadResourceResult);
  }
  return revision.typedResults ? withEnvelope(lowered as JsonObject, serverInfo) : (lowered as JsonObject);
}

/** Adds what each result of a modern revision carries: its type, unless it has one, and who the server is. */
export function withEnvelope(result: JsonObject, serverInfo: Implementation): JsonObject {
  const meta = result._meta ? { ...result._meta, [MetaKey.serverInfo]: serverInfo } : metaOf(serverInfo);
  return { resultType: completeType, ...result, _meta: meta };
}

/** The `_meta` of the results that have none of their own, which is nearly all; one for all that a server gives. */
const metas = new WeakMap<Implementation, JsonObject>();

function metaOf(serverInfo: Implementation): JsonObject {
  let meta = metas.get(serverInfo);
  if (!meta) metas.set(serverInfo, (meta = Object.freeze({ [MetaKey.serverInfo]: serverInfo })));
  return meta;
}
