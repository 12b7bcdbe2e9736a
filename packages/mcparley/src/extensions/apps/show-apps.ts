import type { Client } from "../../client/client.ts";
import type { ClientExtension } from "../../client/extension.ts";
import type { RequestOptions } from "../../client/options.ts";
import { fromBase64 } from "../../rpc/base64.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import {
  type AppUi,
  type Audience,
  type ToolUi,
  appType,
  appsId,
  isAppUri,
  readAppUi,
  readToolUi,
  uiIn,
} from "./app-metadata.ts";

/** A tool with its metadata, as a server lists it. */
export interface ListedTool {
  /** The `_meta` of the listed tool or resource. */
  readonly _meta?: JsonObject;
}

/** An app as the server sent it. Its code is untrusted: run it in a sandbox that allows only the entries of `ui`. */
export interface App {
  /** The `ui://` URI of the app. */
  uri: string;
  /** The HTML document to show in a sandbox. */
  html: string;
  /** The security settings that the server declared for the app. */
  ui: AppUi;
}

/**
 * Declares that the client can show apps: `connect(target, { extensions: [appSupport()] })` (MCP Apps, SEP-1865).
 *
 * Stage of the extension `io.modelcontextprotocol/ui` on 2026-11-26: Stable. Its specification changes only together with a
 * new revision of the protocol, and published revisions never change.
 *
 * @example
 * ```ts
 * import { appSupport } from "mcparley/apps";
 * import { connect } from "mcparley/client";
 *
 * const client = await connect("https://example.com/mcp", { extensions: [appSupport()] });
 * ```
 */
export function appSupport(): ClientExtension {
  return { id: appsId, settings: { mimeTypes: [appType] } };
}

/**
 * Reads a listed tool's app metadata, undefined if it has none. Throws `LocalError` `invalid_message` if it is invalid.
 *
 * @example
 * ```ts
 * import { appSupport, getToolUi, readApp } from "mcparley/apps";
 * import { connect } from "mcparley/client";
 *
 * const client = await connect("https://example.com/mcp", { extensions: [appSupport()] });
 * for await (const tool of client.listTools()) {
 *   const uri = getToolUi(tool)?.resourceUri;
 *   if (uri !== undefined) console.log(tool.name, await readApp(client, uri));
 * }
 * ```
 */
export function getToolUi(tool: ListedTool): ToolUi | undefined {
  return readToolUi(tool._meta);
}

/**
 * Returns whether the model, or an app of the same server, may use a listed tool. A host must not offer other tools to its
 * model, and must not call other tools for an app. A tool with invalid metadata is visible to neither.
 *
 * @example
 * ```ts
 * import { isVisibleTo } from "mcparley/apps";
 * import { connect } from "mcparley/client";
 *
 * const client = await connect("https://example.com/mcp");
 * for await (const tool of client.listTools()) if (isVisibleTo("model", tool)) console.log(tool.name);
 * ```
 */
export function isVisibleTo(audience: Audience, tool: ListedTool): boolean {
  try {
    return (getToolUi(tool)?.visibility ?? ["model", "app"]).includes(audience);
  } catch {
    return false;
  }
}

/**
 * Reads an app from the server that names it. Its `ui` is the `_meta.ui` of the content. If the content has none, it is
 * the `_meta.ui` of its entry in the server's list of resources.
 *
 * Throws `LocalError` `invalid_message` if the URI is not `ui://`, if the result is not exactly one document of the MIME
 * type of apps, or if its metadata is invalid.
 *
 * @example
 * ```ts
 * import { appSupport, readApp } from "mcparley/apps";
 * import { connect } from "mcparley/client";
 *
 * const client = await connect("https://example.com/mcp", { extensions: [appSupport()] });
 * const { html, ui } = await readApp(client, "ui://clock");
 * console.log(html, ui.csp?.connectDomains ?? []);
 * ```
 */
export async function readApp(client: Client, uri: string, options?: RequestOptions): Promise<App> {
  if (!isAppUri(uri)) throw unfit(uri, "its URI does not start with ui://");
  const { contents } = await client.readResource(uri, options);
  const [content, ...extraContents] = contents;
  if (!content || extraContents.length > 0)
    throw unfit(uri, `the server returned ${contents.length} documents instead of one`);
  if (content.uri !== uri) throw unfit(uri, "the returned document has another URI");
  if (content.mimeType !== appType) throw unfit(uri, `its MIME type is ${String(content.mimeType).slice(0, 100)}`);
  const html = "text" in content ? content.text : decodeHtml(uri, content.blob);
  if (typeof html !== "string") throw unfit(uri, "its text is not a string");
  const meta = uiIn(content._meta) ? content._meta : await listedMeta(client, uri, options);
  return { uri, html, ui: readAppUi(meta) };
}

/** Returns the metadata of a resource in the list of its server, undefined if it is not listed. */
async function listedMeta(
  client: Client,
  uri: string,
  options: RequestOptions | undefined,
): Promise<JsonObject | undefined> {
  try {
    for await (const resource of client.listResources(options)) if (resource.uri === uri) return resource._meta;
  } catch (error) {
    // Servers need not list their apps, and some have no list.
    if (!(error instanceof ProtocolError)) throw error;
  }
  return undefined;
}

function decodeHtml(uri: string, blob: unknown): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(fromBase64(String(blob)));
  } catch (cause) {
    throw unfit(uri, "its content is neither text nor base64 of UTF-8", cause);
  }
}

function unfit(uri: string, why: string, cause?: unknown): LocalError {
  return new LocalError("invalid_message", `The app ${uri.slice(0, 200)} is invalid: ${why}.`, { cause });
}
