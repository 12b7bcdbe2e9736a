import { LocalError } from "../../rpc/errors.ts";
import type { HttpOptions } from "./options.ts";

/** A part of an HTTP endpoint: the MCP endpoint, or one of the two paths of the HTTP+SSE transport. */
export type Part = "mcp" | "stream" | "messages";

export interface Routes {
  /** The path of the MCP endpoint, without a slash at its end. Undefined if it is served at every path. */
  readonly mcp: string | undefined;
  /** The path to which clients of HTTP+SSE post. Undefined if the transport is off. */
  readonly messages: string | undefined;
  /** Returns the part at a path, with or without a slash at its end. */
  find(path: string): Part | undefined;
}

/** Reads the paths of the options. Throws a `LocalError` `invalid_definition` if two of them are the same. */
export function readRoutes({ path, legacySse = false }: HttpOptions): Routes {
  const mcp = path === undefined ? undefined : normal(path);
  if (legacySse === false) {
    return { mcp, messages: undefined, find: (given) => (isAt(given, mcp) ? "mcp" : undefined) };
  }
  const given = legacySse === true ? {} : legacySse;
  const stream = normal(given.path ?? "/sse");
  const messages = normal(given.messages ?? "/messages");
  if (new Set([mcp, stream, messages]).size < 3) {
    const paths = [mcp ?? "any", stream, messages].join(", ");
    const message = `path, legacySse.path and legacySse.messages must differ; got ${paths}.`;
    throw new LocalError("invalid_definition", message);
  }
  return {
    mcp,
    messages,
    find(path) {
      const at = withoutSlash(path);
      if (at === stream) return "stream";
      if (at === messages) return "messages";
      return isAt(path, mcp) ? "mcp" : undefined;
    },
  };
}

function isAt(path: string, mcp: string | undefined): boolean {
  return mcp === undefined || path === mcp || withoutSlash(path) === mcp;
}

function normal(path: string): string {
  return withoutSlash(path.startsWith("/") ? path : `/${path}`);
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
