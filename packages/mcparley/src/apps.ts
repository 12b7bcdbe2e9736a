/**
 * HTML interfaces that a server offers with its tools (MCP Apps), and functions for hosts that show them. Stage of the extension
 * on 2026-11-26: Stable.
 */
export type { JsonObject } from "./rpc/messages.ts";
export type { Client } from "./client/client.ts";
export type { ClientExtension } from "./client/extension.ts";
export type { RequestOptions } from "./client/options.ts";
export type { Resource } from "./server/core/definition-types.ts";
export type { Context } from "./server/core/context.ts";
export type { ServerExtension } from "./server/core/extension.ts";
export type { AppOrigins, AppUi, Audience, ToolUi } from "./extensions/apps/app-metadata.ts";
export { type AppDefinition, app, apps, appMeta, supportsApps } from "./extensions/apps/apps.ts";
export { type App, type ListedTool, isVisibleTo, readApp, appSupport, getToolUi } from "./extensions/apps/show-apps.ts";
