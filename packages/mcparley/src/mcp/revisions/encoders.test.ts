import { describe, expect, test } from "vitest";
import type { ContentBlock } from "../content.ts";
import type { ElicitParams } from "../elicitation.ts";
import type { SamplingContent } from "../sampling.ts";
import type { Tool } from "../tools.ts";
import {
  findRevision,
  legacyEncoderOf,
  legacyRevisions,
  modernEncoderOf,
  negotiateLegacy,
  revisions,
  supportedVersions,
} from "./index.ts";
import type { Encoder } from "./encoder.ts";
import type { Revision } from "./revision.ts";

function encoder(version: string): Encoder {
  const revision = findRevision(version) as Revision;
  return revision.kind === "modern" ? modernEncoderOf(revision) : legacyEncoderOf(revision);
}
const versions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

const icons = [{ src: "https://example.com/i.png" }];
const fullTool: Tool = {
  name: "t",
  title: "Title",
  description: "Does it.",
  inputSchema: { type: "object" },
  outputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
  icons,
  _meta: { "example.com/a": 1 },
};

/** Returns the members of an encoded value, by revision. */
function membersByVersion(encode: (encoder: Encoder) => object): Record<string, string[]> {
  return Object.fromEntries(versions.map((version) => [version, Object.keys(encode(encoder(version))).toSorted()]));
}

test("a tool keeps the members that each revision defines", () => {
  const all = ["_meta", "annotations", "description", "icons", "inputSchema", "name", "outputSchema", "title"];
  expect(membersByVersion(({ tool }) => tool(fullTool))).toEqual({
    "2026-07-28": all,
    "2025-11-25": all,
    "2025-06-18": all.filter((member) => member !== "icons"),
    "2025-03-26": ["annotations", "description", "inputSchema", "name"],
    "2024-11-05": ["description", "inputSchema", "name"],
  });
});

test("every revision has an encoder, and the pre-release has that of the first release", () => {
  const encoders = revisions.map(({ version }) => encoder(version));
  expect(encoders).not.toContain(undefined);
  expect(encoders.at(-1)).toBe(encoders.at(-2));
  expect(new Set(encoders).size).toBe(revisions.length - 1);
});

test("the encoder of the newest revision returns its argument", () => {
  const newest = encoder("2026-07-28");
  expect(newest.tool(fullTool)).toBe(fullTool);
  const result = { content: [{ type: "text" as const, text: "x" }] };
  expect(newest.callToolResult(result)).toBe(result);
});

test("a title moves to the annotations or the description if the revision has no title", () => {
  expect(encoder("2025-03-26").tool(fullTool).annotations).toEqual({ title: "Title", readOnlyHint: true });
  const { description: _, ...undescribed } = fullTool;
  expect(encoder("2024-11-05").tool(undescribed).description).toBe("Title");
  const prompt = { name: "p", title: "Prompt", arguments: [{ name: "a", title: "Arg" }] };
  expect(encoder("2025-03-26").prompt(prompt)).toEqual({
    name: "p",
    description: "Prompt",
    arguments: [{ name: "a", description: "Arg" }],
  });
});

const moved = (value: unknown): object => ({ _meta: { "mcparley/structuredContent": value } });

test("an output schema of another type than object is sent since 2026-07-28 only, and its content is in _meta before", () => {
  const tool = { ...fullTool, outputSchema: { type: "array" } };
  const result = { content: [{ type: "text" as const, text: "[1]" }], structuredContent: [1] };
  expect(encoder("2026-07-28").tool(tool)).toHaveProperty("outputSchema");
  expect(encoder("2025-11-25").tool(tool)).not.toHaveProperty("outputSchema");
  expect(encoder("2025-11-25").callToolResult(result)).toEqual({ content: result.content, ...moved([1]) });
  expect(encoder("2025-11-25").callToolResult({ ...result, structuredContent: { a: 1 } })).toHaveProperty(
    "structuredContent",
  );
});

describe("content", () => {
  const link: ContentBlock = {
    type: "resource_link",
    uri: "note://1",
    name: "one",
    title: "One",
    description: "The first",
    icons,
    annotations: { priority: 1, lastModified: "2025-01-01T00:00:00Z" },
  };
  const sound: ContentBlock = { type: "audio", data: "AQID", mimeType: "audio/wav" };

  test("a resource link becomes text if the revision has no resource links", () => {
    expect(encoder("2025-06-18").content(link)).not.toHaveProperty("icons");
    expect(encoder("2025-06-18").content(link)).toMatchObject({ type: "resource_link", title: "One" });
    for (const version of ["2025-03-26", "2024-11-05"]) {
      expect(encoder(version).content(link)).toEqual({
        type: "text",
        text: "[One](note://1): The first",
        annotations: { priority: 1 },
      });
    }
  });

  test("audio becomes an embedded resource if the revision has no audio", () => {
    expect(encoder("2025-03-26").content(sound)).toEqual(sound);
    expect(encoder("2024-11-05").content(sound)).toMatchObject({
      type: "resource",
      resource: { mimeType: "audio/wav", blob: "AQID" },
    });
  });

  test("the content of results and prompts is encoded", () => {
    const first = encoder("2024-11-05");
    const result = first.callToolResult({ content: [link, sound], structuredContent: { a: 1 } });
    expect(result.content.map(({ type }) => type)).toEqual(["text", "resource"]);
    expect(result).not.toHaveProperty("structuredContent");
    expect(result).toMatchObject(moved({ a: 1 }));
    const prompt = first.getPromptResult({ messages: [{ role: "user", content: sound }] });
    expect(prompt.messages[0]?.content.type).toBe("resource");
  });
});

describe("elicitation and sampling", () => {
  const url: ElicitParams = { mode: "url", message: "Go", url: "https://example.com" };

  test("a URL elicitation has an id on 2025-11-25 only, and is refused on older revisions", () => {
    expect(encoder("2026-07-28").elicitation(url).params).toEqual(url);
    const { params } = encoder("2025-11-25").elicitation(url);
    expect(params).toMatchObject({ ...url, elicitationId: expect.stringMatching(/^[\da-f-]{36}$/) as string });
    expect(() => encoder("2025-06-18").elicitation(url)).toThrow("elicitation.url");
  });

  test("several blocks in a message become several messages", () => {
    const text = (value: string) => ({ type: "text" as const, text: value });
    const params = { maxTokens: 1, messages: [{ role: "user" as const, content: [text("a"), text("b")] }] };
    expect(encoder("2025-11-25").createMessage(params)).toEqual(params);
    expect(encoder("2025-06-18").createMessage(params).messages).toEqual([
      { role: "user", content: text("a") },
      { role: "user", content: text("b") },
    ]);
    expect(() => encoder("2025-06-18").createMessage({ ...params, tools: [fullTool] })).toThrow("sampling.tools");
  });

  test.each<SamplingContent>([
    { type: "tool_use", id: "1", name: "t", input: {} },
    { type: "tool_result", toolUseId: "1", content: [] },
  ])("a message with a $type is refused on a revision without tools in sampling", (content) => {
    const params = { maxTokens: 1, messages: [{ role: "user" as const, content }] };
    expect(encoder("2025-11-25").createMessage(params)).toEqual(params);
    for (const version of ["2025-06-18", "2025-03-26", "2024-11-05"]) {
      expect(() => encoder(version).createMessage(params)).toThrow("sampling.tools");
    }
  });

  test("the tools of a sampling request are encoded like listed tools", () => {
    const tools = [{ ...fullTool, outputSchema: { type: "array" } }];
    const { tools: encoded } = encoder("2025-11-25").createMessage({ maxTokens: 1, messages: [], tools });
    expect(encoded?.[0]?.name).toBe("t");
    expect(encoded?.[0]).not.toHaveProperty("outputSchema");
  });

  test("a sampling message keeps the members that each revision defines", () => {
    const content = {
      type: "text" as const,
      text: "Hi",
      annotations: { priority: 1, lastModified: "2026-01-01T00:00:00Z" },
      _meta: { "example.com/a": 1 },
    };
    const params = { maxTokens: 1, messages: [{ role: "user" as const, content, _meta: { "example.com/b": 1 } }] };
    const encoded = Object.fromEntries(
      versions.map((version) => [version, encoder(version).createMessage(params).messages]),
    );
    const { _meta: _, ...oldContent } = { ...content, annotations: { priority: 1 } };
    const oldMessages = [{ role: "user", content: oldContent }];
    expect(encoded).toEqual({
      "2026-07-28": params.messages,
      "2025-11-25": params.messages,
      "2025-06-18": [{ role: "user", content }],
      "2025-03-26": oldMessages,
      "2024-11-05": oldMessages,
    });
  });

  test("the description of a form's field names its default on a revision that has one for booleans only", () => {
    const properties = {
      name: { type: "string", default: "Ada" },
      count: { type: "integer", description: "How many?", default: 2 },
      color: { type: "string", enum: ["r", "g"], default: "g" },
      sizes: { type: "array", items: { type: "string", enum: ["S", "M"] }, default: ["S", "M"] },
      sure: { type: "boolean", default: true },
    };
    const requestedSchema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object" as const,
      properties,
    };
    const form: ElicitParams = { mode: "form", message: "?", requestedSchema };
    expect(encoder("2025-11-25").elicitation(form).params).toEqual(form);
    expect(encoder("2025-06-18").elicitation(form).params).toEqual({
      message: "?",
      requestedSchema: {
        type: "object",
        properties: {
          name: { type: "string", description: "Default: Ada." },
          count: { type: "integer", description: "How many? Default: 2." },
          color: { type: "string", enum: ["r", "g"], description: "Default: g." },
          sizes: {
            type: "string",
            description: "Any of S, M; separate several with commas. Default: S, M.",
          },
          sure: { type: "boolean", default: true },
        },
      },
    });
  });

  test("a text that names the MIME type replaces audio in a message of the first revision", () => {
    const content = { type: "audio" as const, data: "AQID", mimeType: "audio/wav" };
    const { messages } = encoder("2024-11-05").createMessage({ maxTokens: 1, messages: [{ role: "user", content }] });
    expect(messages[0]?.content).toMatchObject({ type: "text", text: expect.stringContaining("audio/wav") as string });
  });
});

test("the description of a server has fewer members in older revisions", () => {
  const info = { name: "n", version: "1", title: "N", description: "d", websiteUrl: "https://example.com", icons };
  expect(membersByVersion(({ implementation }) => implementation(info))).toEqual({
    "2026-07-28": ["description", "icons", "name", "title", "version", "websiteUrl"],
    "2025-11-25": ["description", "icons", "name", "title", "version", "websiteUrl"],
    "2025-06-18": ["name", "title", "version"],
    "2025-03-26": ["name", "version"],
    "2024-11-05": ["name", "version"],
  });
});

describe("revisions", () => {
  test("supported versions are listed newest first, without the pre-release", () => {
    expect(supportedVersions).toEqual([...versions]);
    expect(revisions.map(({ version }) => version)).toEqual([...versions, "2024-10-07"]);
  });

  test.each([
    ["2024-10-07", "2024-10-07"],
    ["2025-06-18", "2025-06-18"],
    ["2026-07-28", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
    ["__proto__", "2025-11-25"],
  ])("a session that requests %s negotiates %s", (requested, opened) => {
    expect(negotiateLegacy(requested, legacyRevisions)?.version).toBe(opened);
  });

  test("the methods of each revision are those of its schema", () => {
    const requests = Object.fromEntries(
      versions.map((version) => [version, [...(findRevision(version) as Revision).clientRequests].toSorted()]),
    );
    const legacy = [
      "completion/complete",
      "initialize",
      "logging/setLevel",
      "ping",
      "prompts/get",
      "prompts/list",
      "resources/list",
      "resources/read",
      "resources/subscribe",
      "resources/templates/list",
      "resources/unsubscribe",
      "tools/call",
      "tools/list",
    ];
    const gone = new Set(["initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"]);
    const modern = [
      ...legacy.filter((method) => !gone.has(method)),
      "server/discover",
      "subscriptions/listen",
    ].toSorted();
    expect(requests).toEqual({
      "2026-07-28": modern,
      "2025-11-25": legacy,
      "2025-06-18": legacy,
      "2025-03-26": legacy,
      "2024-11-05": legacy,
    });
  });

  test("the requests of a server are those of the revision", () => {
    const asks = Object.fromEntries(
      versions.map((version) => [version, [...(findRevision(version) as Revision).serverRequests].toSorted()]),
    );
    const withForms = ["elicitation/create", "ping", "roots/list", "sampling/createMessage"];
    const without = ["ping", "roots/list", "sampling/createMessage"];
    expect(asks).toEqual({
      "2026-07-28": ["elicitation/create", "roots/list", "sampling/createMessage"],
      "2025-11-25": withForms,
      "2025-06-18": withForms,
      "2025-03-26": without,
      "2024-11-05": without,
    });
  });

  test("the notifications of each revision are those of its schema, without those of tasks", () => {
    const changes = ["prompts/list_changed", "resources/list_changed", "resources/updated", "tools/list_changed"];
    const ofServers = ["cancelled", "message", "progress", ...changes];
    const ofClients = ["cancelled", "initialized", "progress", "roots/list_changed"];
    const defined: Record<string, [string[], string[]]> = {
      "2026-07-28": [["cancelled"], [...ofServers, "subscriptions/acknowledged"]],
      "2025-11-25": [ofClients, [...ofServers, "elicitation/complete"]],
      "2025-06-18": [ofClients, ofServers],
      "2025-03-26": [ofClients, ofServers],
      "2024-11-05": [ofClients, ofServers],
    };
    const named = (methods: ReadonlySet<string>): string[] => [...methods].toSorted();
    const full = (names: string[]): string[] => names.map((name) => `notifications/${name}`).toSorted();
    for (const [version, [clients, servers]] of Object.entries(defined)) {
      const { clientNotifications, serverNotifications } = findRevision(version) as Revision;
      expect(version).toEqual(version);
      expect(named(clientNotifications)).toEqual(full(clients));
      expect(version).toEqual(version);
      expect(named(serverNotifications)).toEqual(full(servers));
    }
  });
});
