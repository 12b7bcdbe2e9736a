import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { Context } from "../../server/core/context.ts";
import type { Resource, ResourceDefinition } from "../../server/core/definition-types.ts";
import { resource } from "../../server/definition.ts";
import type { ServerExtension } from "../../server/core/extension.ts";
import { type AppUi, type ToolUi, appType, appsId, isAppUri, readAppUi, readToolUi } from "./app-metadata.ts";

/**
 * Announces that a server has apps (MCP Apps, SEP-1865): `createServer({ extensions: [apps()] })`.
 *
 * `createServer` then throws `LocalError` `invalid_definition` for a tool whose app is not among the server's resources,
 * or whose resource is not an app. Tools added to a live server are not checked.
 *
 * Stage of the extension `io.modelcontextprotocol/ui` on 2026-11-26: Stable. Its specification changes only together with a
 * new revision of the protocol, and published revisions never change.
 *
 * @example
 * ```ts
 * import { app, appMeta, apps } from "mcparley/apps";
 * import { createServer, tool } from "mcparley/server";
 *
 * const clock = app("ui://clock", { html: "<!doctype html><p id=time></p>" });
 * const time = tool({ meta: appMeta({ resourceUri: "ui://clock" }), call: () => new Date().toISOString() });
 * const server = createServer({
 *   name: "clock",
 *   version: "1.0.0",
 *   tools: { time },
 *   resources: { clock },
 *   extensions: [apps()],
 * });
 * ```
 */
export function apps(): ServerExtension {
  return {
    id: appsId,
    offer({ tools, resources }) {
      const all = [...resources].map(([, resource]) => resource);
      for (const [name, { meta }] of tools) {
        const { resourceUri } = readDefinition(`tool "${name}"`, () => readToolUi(meta)) ?? {};
        const problem = resourceUri === undefined ? undefined : findProblem(resourceUri, all);
        if (problem === undefined) continue;
        throw new LocalError("invalid_definition", `The tool "${name}" names the app ${resourceUri}, but ${problem}`);
      }
    },
  };
}

/** Returns the reason why a resource cannot be the app of a tool. */
function findProblem(uri: string, resources: readonly Resource[]): string | undefined {
  const appResource = resources.find(({ uri: template }) => {
    const variable = template.indexOf("{");
    // Of a template, only the literal prefix is compared.
    return variable === -1 ? template === uri : uri.startsWith(template.slice(0, variable));
  });
  if (!appResource) return "the server has no resource with this URI.";
  const { mimeType = "undefined" } = appResource;
  return mimeType === appType
    ? undefined
    : `the MIME type of this resource is ${mimeType} and not ${appType}. Define it with app().`;
}

/**
 * Returns the `meta` of a tool whose results an app shows: `tool({ meta: appMeta({ resourceUri: "ui://clock" }), ... })`.
 *
 * Throws `LocalError` `invalid_definition` for a URI that is not `ui://`. A client without support for apps sees a normal
 * tool. The tool's result must therefore contain the same information as text.
 *
 * @example
 * ```ts
 * import { appMeta } from "mcparley/apps";
 * import { tool } from "mcparley/server";
 *
 * const time = tool({
 *   description: "Returns the time.",
 *   meta: appMeta({ resourceUri: "ui://clock", visibility: ["model", "app"] }),
 *   call: () => new Date().toISOString(),
 * });
 * ```
 */
export function appMeta(ui: ToolUi): JsonObject {
  return { ui: { ...readDefinition("app of a tool", () => readToolUi({ ui })) } };
}

/** Definition of an MCP App: an HTML document that a host shows beside a tool's result. */
export interface AppDefinition<C>
  extends AppUi, Pick<ResourceDefinition<string, C>, "title" | "description" | "icons" | "scopes" | "cache"> {
  /** The HTML document, or a function that returns it. */
  html: string | ((ctx: Context & C) => string | Promise<string>);
}

/**
 * Defines an app: an HTML document at a `ui://` URI, which hosts show in a sandbox beside the results of a tool.
 *
 * The origins and permissions of the app are sent with its document. Throws `LocalError` `invalid_definition` for a URI
 * of another scheme, and for invalid origins.
 *
 * @example
 * ```ts
 * import { app } from "mcparley/apps";
 *
 * const map = app("ui://map", {
 *   title: "Map",
 *   html: '<!doctype html><script src="https://tiles.example/map.js"></script>',
 *   csp: { resourceDomains: ["https://tiles.example"] },
 * });
 * ```
 */
export function app<const U extends string, C extends object = object>(
  uri: U,
  { html, csp, permissions, domain, prefersBorder, ...described }: AppDefinition<C>,
): Resource<U, NoInfer<C>> {
  if (!isAppUri(uri)) {
    throw new LocalError("invalid_definition", `The URI of an app must start with ui://; got ${String(uri)}.`);
  }
  const ui = readDefinition(`app ${uri}`, () => readAppUi({ ui: { csp, permissions, domain, prefersBorder } }));
  const meta: JsonObject | undefined = Object.keys(ui).length > 0 ? { ui } : undefined;
  return resource<U, C>(uri, {
    ...described,
    mimeType: appType,
    ...(meta && { meta }),
    read: async (_, ctx) => ({
      text: typeof html === "string" ? html : await html(ctx),
      mimeType: appType,
      ...(meta && { meta }),
    }),
  });
}

/**
 * Returns whether the client declared support for apps. If not, a tool must return all information as text.
 *
 * @example
 * ```ts
 * import { appMeta, supportsApps } from "mcparley/apps";
 * import { tool } from "mcparley/server";
 *
 * const time = tool({
 *   meta: appMeta({ resourceUri: "ui://clock" }),
 *   call: (_, ctx) => (supportsApps(ctx) ? "The clock shows the time." : new Date().toISOString()),
 * });
 * ```
 */
export function supportsApps({ peer }: Pick<Context, "peer">): boolean {
  const { extensions } = peer.capabilities;
  const settings = isObject(extensions) ? extensions[appsId] : undefined;
  return isObject(settings) && Array.isArray(settings.mimeTypes) && settings.mimeTypes.includes(appType);
}

/** Runs a reader and rethrows its error as `invalid_definition`, with the name of the definition. */
function readDefinition<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LocalError("invalid_definition", `The ${what}: ${why}`, { cause });
  }
}
