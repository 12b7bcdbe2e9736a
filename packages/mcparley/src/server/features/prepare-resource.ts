import type { Resource as ListedResource, ResourceTemplate } from "../../mcp/resources.ts";
import { type UriTemplate, parseTemplate } from "../../schema/uri-template.ts";
import { checkCacheHint } from "../cache-hint.ts";
import type { Resource } from "../definition.ts";
import { describe, explained } from "../describe.ts";
import type { Entry } from "../registry.ts";

export interface ResourceEntry extends Entry<Resource> {
  readonly listed: ListedResource;
  /** Undefined where the URI is no template. */
  readonly template: UriTemplate | undefined;
  readonly listedTemplate: ResourceTemplate | undefined;
}

export function prepareResource(entry: Entry<Resource>): ResourceEntry {
  const { name, definition } = entry;
  return explained(`resource "${name}"`, () => {
    const { uri, mimeType, size, annotations } = definition;
    if (typeof uri !== "string" || uri === "") throw new TypeError("it has no URI");
    if (typeof definition.read !== "function") throw new TypeError("it has no `read` function");
    checkCacheHint(definition.cache ?? {});
    const shared = {
      ...describe(name, definition),
      ...(mimeType && { mimeType }),
      ...(annotations && { annotations }),
    };
    const listed: ListedResource = { uri, ...shared };
    if (size !== undefined) listed.size = size;
    if (!uri.includes("{")) return { ...entry, listed, template: undefined, listedTemplate: undefined };
    return { ...entry, listed, template: parseTemplate(uri), listedTemplate: { uriTemplate: uri, ...shared } };
  });
}
