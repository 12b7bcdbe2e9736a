import { describe, expect, test } from "vitest";
import type { Client } from "../../client/client.ts";
import { serverTransports } from "../../client/connect/transports.ts";
import { openClient } from "../../client/open-client.ts";
import type { ConnectOptions } from "../../client/options.ts";
import type { Tool } from "../../mcp/tools.ts";
import { supportedVersions } from "../../mcp/revisions/index.ts";
import { resource, tool } from "../../server/definition.ts";
import type { AnyServerDefinition } from "../../server/core/options.ts";
import { createServer } from "../../server/create-server.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { appType, readAppUi, readToolUi } from "./app-metadata.ts";
import { app, apps, appMeta, supportsApps } from "./apps.ts";
import { isVisibleTo, readApp, appSupport, getToolUi } from "./show-apps.ts";

const resourceUri = "ui://clock/face";
const csp = { connectDomains: ["https://api.example.com"], resourceDomains: ["https://*.example.com:8443"] };
const html = "<!doctype html><title>Clock</title>";

const definition: Partial<AnyServerDefinition> = {
  extensions: [apps()],
  resources: { face: app(resourceUri, { html, csp, permissions: { camera: {} }, prefersBorder: true }) },
  tools: {
    time: tool({ meta: appMeta({ resourceUri }), call: (_, ctx) => (supportsApps(ctx) ? "see the clock" : "12:00") }),
    refresh: tool({ meta: appMeta({ visibility: ["app"] }), call: () => "12:01" }),
  },
};

function connectTo(given: Partial<AnyServerDefinition>, options: ConnectOptions = {}): Promise<Client> {
  return openClient(serverTransports(createServer({ name: "x", version: "1", ...given })), options);
}

/** The two tools of the definition, as they are listed. */
async function toolsOf(client: Client): Promise<[Tool, Tool]> {
  const tools: Tool[] = [];
  for await (const listed of client.listTools()) tools.push(listed);
  return tools as [Tool, Tool];
}

describe("a server with apps", () => {
  test("declares its capability, its tools' metadata, and the type of its documents", async () => {
    const client = await connectTo(definition, { extensions: [appSupport()] });
    expect(client.server.capabilities.extensions).toEqual({ "io.modelcontextprotocol/ui": {} });
    const [time] = await toolsOf(client);
    expect(time._meta).toEqual({ ui: { resourceUri } });
    const ui = { csp, permissions: { camera: {} }, prefersBorder: true };
    expect((await client.readResource(resourceUri)).contents).toEqual([
      { uri: resourceUri, mimeType: appType, text: html, _meta: { ui } },
    ]);
    await client.close();
  });

  test("determines which clients support apps", async () => {
    const shows = await connectTo(definition, { extensions: [appSupport()] });
    expect(await shows.callTool("time")).toBe("see the clock");
    await shows.close();
    const plain = await connectTo(definition);
    expect(await plain.callTool("time")).toBe("12:00");
    await plain.close();
    const other = await connectTo(definition, {
      extensions: [{ id: "io.modelcontextprotocol/ui", settings: { mimeTypes: ["text/x-other"] } }],
    });
    expect(await other.callTool("time")).toBe("12:00");
    await other.close();
  });

  test("rejects a tool whose app it does not have", () => {
    const tools = { time: tool({ meta: appMeta({ resourceUri: "ui://other" }), call: () => "" }) };
    expect(() => createServer({ name: "x", version: "1", extensions: [apps()], tools })).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        message: 'The tool "time" names the app ui://other, but the server has no resource with this URI.',
      }),
    );
  });

  test("rejects a tool whose app is a resource of another type", () => {
    const tools = { time: tool({ meta: appMeta({ resourceUri: "ui://page" }), call: () => "" }) };
    const page = resource("ui://page", { mimeType: "text/html", read: () => html });
    const make = (more: object): unknown =>
      createServer({ name: "x", version: "1", extensions: [apps()], tools, ...more });
    expect(() => make({ resources: { page } })).toThrow(
      'The tool "time" names the app ui://page, but the MIME type of this resource is text/html and not text/html;profile=mcp-app.',
    );
    expect(() => make({ resources: { pages: app("ui://{name}", { html }) } })).not.toThrow();
  });

  test.each([
    [
      "the URI",
      () => app("https://x.example", { html }),
      "The URI of an app must start with ui://; got https://x.example.",
    ],
    [
      "an origin",
      () => app("ui://x", { html, csp: { frameDomains: ["https://a.example; script-src *"] } }),
      'The app ui://x: _meta.ui.csp.frameDomains must contain only origins; got "https://a.example; script-src *".',
    ],
    [
      "the app of a tool",
      () => appMeta({ resourceUri: "x" }),
      "The app of a tool: _meta.ui.resourceUri must start with ui://.",
    ],
  ])("refuses a definition for %s", (_, define, message) => {
    expect(define).toThrow(expect.objectContaining({ code: "invalid_definition", message }));
  });
});

describe.each(supportedVersions)("to a client of %s", (revision) => {
  const hasMeta = !["2024-11-05", "2025-03-26"].includes(revision);

  test("metadata is sent unchanged on each revision that has it", async () => {
    const meta = { ...appMeta({ resourceUri, visibility: ["app"] }), "com.example/own": { a: [1] } };
    const time = tool({ meta, call: (_, ctx) => String(supportsApps(ctx)) });
    const client = await connectTo({ ...definition, tools: { time } }, { revision, extensions: [appSupport()] });
    const [listed] = await client.listTools().all();
    expect(listed?._meta).toEqual(hasMeta ? meta : undefined);
    const [face] = await client.listResources().all();
    const ui = { csp, permissions: { camera: {} }, prefersBorder: true };
    expect(face).toMatchObject({ uri: resourceUri, mimeType: appType });
    expect(face?._meta).toEqual(hasMeta ? { ui } : undefined);
    expect(await readApp(client, resourceUri)).toEqual({ uri: resourceUri, html, ui: hasMeta ? ui : {} });
    expect(client.server.capabilities.extensions).toEqual({ "io.modelcontextprotocol/ui": {} });
    expect(await client.callTool("time")).toBe("true");
    await client.close();
  });
});

describe("a host", () => {
  test("reads an app with its permissions, and the visibility of its tools", async () => {
    const client = await connectTo(definition, { extensions: [appSupport()] });
    const [time, refresh] = await toolsOf(client);
    expect(getToolUi(time)).toEqual({ resourceUri });
    expect(isVisibleTo("model", time)).toBe(true);
    expect(isVisibleTo("app", time)).toBe(true);
    expect(isVisibleTo("model", refresh)).toBe(false);
    expect(isVisibleTo("app", refresh)).toBe(true);
    const ui = { csp, permissions: { camera: {} }, prefersBorder: true };
    expect(await readApp(client, getToolUi(time)!.resourceUri!)).toEqual({ uri: resourceUri, html, ui });
    await client.close();
  });

  describe("reads the metadata of an app in the list of resources", () => {
    const listed = { ui: { csp: { connectDomains: ["https://listed.example"] }, prefersBorder: true } };

    async function read(inContent: object | undefined, inList: object | undefined): Promise<unknown> {
      const page = resource("ui://page", {
        ...(inList && { meta: inList as never }),
        read: () => ({ text: html, mimeType: appType, ...(inContent && { meta: inContent as never }) }),
      });
      const others = Object.fromEntries(
        Array.from({ length: 5 }, (_, at) => [`r${at}`, resource(`note://${at}`, { read: () => "" })]),
      );
      const client = await connectTo({ resources: { ...others, page }, limits: { pageSize: 2 } });
      try {
        return (await readApp(client, "ui://page")).ui;
      } finally {
        await client.close();
      }
    }

    test("if the content has no metadata, from any page", async () => {
      expect(await read(undefined, listed)).toEqual(listed.ui);
      expect(await read({ "com.example/a": 1 }, listed)).toEqual(listed.ui);
      expect(await read(undefined, undefined)).toEqual({});
    });

    test("but the content's own metadata replaces it as a whole", async () => {
      const own = { prefersBorder: false };
      expect(await read({ ui: own }, listed)).toEqual(own);
      expect(await read({ ui: {} }, listed)).toEqual({});
    });

    test("and rejects invalid metadata in the list", async () => {
      await expect(read(undefined, { ui: { csp: { connectDomains: ["*"] } } })).rejects.toMatchObject({
        code: "invalid_message",
      });
    });

    test("and grants no permissions if the server has no list", async () => {
      const server = createServer({
        name: "x",
        version: "1",
        resources: { page: resource("ui://page", { read: () => ({ text: html, mimeType: appType }) }) },
      }).use((call, next) => {
        if (call.method !== "resources/list") return next();
        throw new ProtocolError(ErrorCode.MethodNotFound, "Method not found");
      });
      const client = await openClient(serverTransports(server), {});
      expect((await readApp(client, "ui://page")).ui).toEqual({});
      await client.close();
    });
  });

  test("reads a document that was sent as base64", async () => {
    const read = (): object => ({ blob: new TextEncoder().encode("<p>ä"), mimeType: appType });
    const client = await connectTo({ resources: { r: resource("ui://b", { read: read as never }) } });
    expect((await readApp(client, "ui://b")).html).toBe("<p>ä");
    await client.close();
  });

  test.each([
    ["ui://text", "its MIME type is text/html"],
    ["ui://two", "the server returned 2 documents instead of one"],
    ["ui://else", "the returned document has another URI"],
    ["ui://bytes", "its content is neither text nor base64 of UTF-8"],
    ["https://x.example", "its URI does not start with ui://"],
  ])("does not show %s", async (uri, why) => {
    const part = { text: html, mimeType: appType };
    const client = await connectTo({
      resources: {
        text: resource("ui://text", { read: () => ({ text: html, mimeType: "text/html" }) }),
        two: resource("ui://two", { read: () => [part, part] }),
        else: resource("ui://else", { read: () => ({ ...part, uri: "ui://other" }) }),
        bytes: resource("ui://bytes", { read: () => ({ blob: new Uint8Array([255]), mimeType: appType }) }),
      },
    });
    await expect(readApp(client, uri)).rejects.toMatchObject({
      code: "invalid_message",
      message: `The app ${uri} is invalid: ${why}.`,
    });
    await client.close();
  });

  test("accepts the deprecated flat key of tools", () => {
    expect(readToolUi({ "ui/resourceUri": "ui://old" })).toEqual({ resourceUri: "ui://old" });
    expect(readToolUi({ ui: { resourceUri: "ui://new" }, "ui/resourceUri": "ui://old" })).toEqual({
      resourceUri: "ui://new",
    });
    expect(readToolUi({ ui: { visibility: ["app"] }, "ui/resourceUri": "ui://old" })).toEqual({
      resourceUri: "ui://old",
      visibility: ["app"],
    });
    expect(readToolUi({ ui: {}, "ui/resourceUri": "ui://old" })).toEqual({ resourceUri: "ui://old" });
    expect(readToolUi({ "com.example/a": 1 })).toBeUndefined();
  });

  test.each([
    [{ ui: "ui://x" }, "_meta.ui must be an object."],
    [{ ui: null }, "_meta.ui must be an object."],
    [{ ui: null, "ui/resourceUri": "ui://old" }, "_meta.ui must be an object."],
    [{ "ui/resourceUri": null }, "_meta.ui.resourceUri must start with ui://."],
    [null as never, "_meta must be an object."],
    ["x" as never, "_meta must be an object."],
    [[{ ui: { visibility: ["app"] } }] as never, "_meta must be an object."],
    [{ ui: { resourceUri: "javascript:alert(1)" } }, "_meta.ui.resourceUri must start with ui://."],
    [{ ui: { visibility: ["everyone"] } }, '_meta.ui.visibility must be a list of "model" and "app".'],
  ])("hides a tool with the invalid metadata %j from the model and from apps", (meta, message) => {
    expect(() => readToolUi(meta)).toThrow(expect.objectContaining({ code: "invalid_message", message }));
    expect(isVisibleTo("model", { _meta: meta })).toBe(false);
    expect(isVisibleTo("app", { _meta: meta })).toBe(false);
  });

  test.each([
    [{ csp: { connectDomains: "https://a.example" } }, "csp.connectDomains must be a list of origins"],
    [{ csp: { connectDomains: ["*"] } }, 'csp.connectDomains must contain only origins; got "*"'],
    [
      { csp: { baseUriDomains: ["https://a.example/path"] } },
      'csp.baseUriDomains must contain only origins; got "https://a.example/path"',
    ],
    [
      { csp: { resourceDomains: ["https://a.example\n"] } },
      String.raw`csp.resourceDomains must contain only origins; got "https://a.example\n"`,
    ],
    [{ csp: [] }, "csp must be an object"],
    [{ permissions: "all" }, "permissions must be an object"],
    [{ domain: 1 }, "domain must be a string"],
    [{ prefersBorder: "yes" }, "prefersBorder must be a boolean"],
  ])("refuses an app whose metadata is %j", (ui, why) => {
    expect(() => readAppUi({ ui })).toThrow(
      expect.objectContaining({ code: "invalid_message", message: `_meta.ui.${why}.` }),
    );
  });

  test("rejects an app whose metadata is not an object", () => {
    expect(() => readAppUi({ ui: null })).toThrow("_meta.ui must be an object.");
    expect(() => readAppUi(null as never)).toThrow("_meta must be an object.");
  });

  test("drops unknown permissions", () => {
    expect(readAppUi({ ui: { permissions: { camera: {}, usb: {}, microphone: true }, more: 1 } })).toEqual({
      permissions: { camera: {} },
    });
  });
});
