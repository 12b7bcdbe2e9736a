import { readLoggingLevel } from "../../mcp/logging.ts";
import { Method } from "../../mcp/methods.ts";
import { readResourceUri } from "../../mcp/resources.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Call } from "../dispatch/call.ts";
import { requireScopes } from "../dispatch/scopes.ts";
import { scopesOf } from "../features/resource-access.ts";
import type { Session } from "./session.ts";

/** Answers the methods that only sessions have: they set the log level, or subscribe to a resource. */
export function changeSession(session: Session, { core, method, params, principal }: Call): JsonObject {
  if (method === Method.setLevel) {
    session.logLevel = readLoggingLevel(params.level, "params.level");
    return {};
  }
  const uri = readResourceUri(params);
  if (method === Method.unsubscribe) session.unsubscribe(uri);
  else {
    requireScopes(scopesOf(core, uri), principal);
    session.subscribe(uri);
  }
  return {};
}
