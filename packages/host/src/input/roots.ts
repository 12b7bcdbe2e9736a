import type { Root, RootsHandler } from "mcparley/client";
import { decide, type InputContext, withinLimits } from "./input-context.ts";

/** Shares the roots with a server that requests them. `roots` is called for each request, because the roots can change. */
export function rootsHandler(context: InputContext, roots: () => readonly Root[]): RootsHandler {
  return (source) =>
    withinLimits(context, { kind: "roots", source }, () => {
      decide(context, { subject: "roots", name: "roots/list", outcome: "allowed", by: "configuration" });
      return Promise.resolve(roots());
    });
}
