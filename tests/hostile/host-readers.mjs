// @ts-check
import { tolerant } from "./reader.mjs";

/** @import { Reader } from "./reader.mjs" */

/** The readers of the host. @type {readonly Reader[]} */
export const hostReaders = [
  {
    name: "host: remarkOn",
    load: async () => {
      const { remarkOn } = await import("../../packages/host/src/consent/text/remarks.ts");
      return (text) => [remarkOn(text, "The text"), remarkOn(text, "The name", true)];
    },
  },
  {
    name: "host: remarksOn",
    load: async () => {
      const { remarksOn } = await import("../../packages/host/src/consent/text/remarks.ts");
      return (text) => remarksOn({ name: text, description: text }, text);
    },
  },
  {
    name: "host: visibleText",
    load: async () => (await import("../../packages/host/src/consent/text/visible-text.ts")).visibleText,
  },
  {
    name: "host: visibleJson",
    load: async () => (await import("../../packages/host/src/consent/text/visible-text.ts")).visibleJson,
  },
  {
    name: "host: differencesBetween",
    load: async () => {
      const { differencesBetween } = await import("../../packages/host/src/consent/text/differences.ts");
      return (text) => differencesBetween({ description: `a${text}` }, { description: text, name: "a" });
    },
  },
  {
    name: "host: matchesGlob",
    load: async () => {
      const { matchesGlob } = await import("../../packages/internal/src/glob.ts");
      return (text) => [matchesGlob("*a*b*aab*", text), matchesGlob("*aaaaaaab", text), matchesGlob("*/a/*", text)];
    },
  },
  {
    name: "host: rules of arguments",
    load: async () => {
      const { matchRules } = await import("../../packages/host/src/consent/rules.ts");
      const rule = { decision: "allow", arguments: { "/a": "/a/*" } };
      const subject = { server: "a", tool: "b", annotations: undefined, definition: "", identity: undefined };
      return (text) => matchRules([/** @type {any} */ (rule)], { ...subject, arguments: { a: text } });
    },
    around: [{}, { head: "/a/" }],
  },
  {
    name: "host: arguments of a call",
    load: async () => {
      const { readArguments } = await import("../../packages/host/src/catalogue/arguments.ts");
      return readArguments;
    },
    around: [{}, { head: '{"a":"', tail: '"}' }, { head: '{"a":1', tail: "}" }, { head: '{"a":[', tail: "]}" }],
  },
  {
    name: "host: names of tools",
    load: async () => {
      const { promptName, toolName } = await import("../../packages/host/src/catalogue/names.ts");
      return (text) => [toolName("a", text), promptName("a", text)];
    },
  },
  {
    name: "host: estimateTokens",
    load: async () => (await import("../../packages/host/src/model/tokens.ts")).estimateTokens,
  },
  {
    name: "host: index of tools",
    load: async () => {
      const { createToolSearch } = await import("../../packages/host/src/search/tool-search.ts");
      return (text) => {
        const search = createToolSearch();
        const tool = {
          name: text,
          title: text,
          description: text,
          inputSchema: { properties: { [text]: { description: text } } },
        };
        const entry = { name: "a__b", server: "a", tool, description: text, inputSchema: tool.inputSchema };
        search.update([entry]);
        return search.answer({ query: text });
      };
    },
  },
  {
    name: "host: label of a text",
    // A longer text becomes a handle.
    maxBytes: 32_768,
    load: async () => {
      const { labelServerText } = await import("../../packages/host/src/conversation/server-text.ts");
      return (text) => labelServerText({ kind: "result", origin: { server: text, name: text }, text });
    },
  },
  {
    name: "host: result of a tool",
    load: async () => {
      const { toResultPart } = await import("../../packages/host/src/conversation/tool-results.ts");
      const { ResultStore } = await import("../../packages/host/src/conversation/server-text.ts");
      const call = { callId: "1", name: "a__b", origin: { server: "a", name: "b" } };
      return (text) => {
        const limits = { maxBytes: 32_768, store: new ResultStore() };
        const result = { content: [{ type: "text", text }], structuredContent: { a: text } };
        return toResultPart(call, /** @type {any} */ ({ status: "completed", result }), limits);
      };
    },
    around: [{}, { head: "[" }],
  },
  {
    name: "host: file of a result",
    load: async () => {
      const { readBlocks } = await import("../../packages/host/src/conversation/tool-results.ts");
      return (text) =>
        readBlocks([
          { type: "image", data: text, mimeType: "image/png" },
          { type: "resource", resource: { uri: text, blob: "", mimeType: text } },
        ]);
    },
    around: [{}, { head: "application/" }],
  },
  {
    name: "host: known secrets",
    load: async () => {
      const { knownSecrets } = await import("../../packages/host/src/secrets/known-secrets.ts");
      const secrets = knownSecrets().of("notes");
      for (const secret of ["secret-secret", "aaaaaaaaab", "0000000001", 'a"\\b/c d']) secrets.add(secret);
      return secrets.withoutSecrets;
    },
  },
  {
    name: "host: URL request",
    // The client refuses a longer URL.
    maxBytes: 16_384,
    load: async () => {
      const { urlRequest } = await import("../../packages/host/src/input/elicit-handler.ts");
      return tolerant((text) =>
        urlRequest(/** @type {any} */ ({ message: text, url: text }), /** @type {any} */ ({}), "a.b"),
      );
    },
    around: [{}, { head: "https://a/" }, { head: "https://xn--" }],
  },
  {
    name: "host: error of a model",
    load: async () => {
      const { modelError } = await import("../../packages/host/src/model/model-failure.ts");
      return (text) => modelError(/** @type {any} */ ({ provider: "a", modelId: "b" }), new Error(text));
    },
  },
  {
    name: "host: template variables",
    load: async () => {
      const { templateVariables } = await import("../../packages/host/src/context/uri-template.ts");
      return templateVariables;
    },
  },
  {
    name: "host: close names",
    load: async () => {
      const { closeNames } = await import("../../packages/host/src/loop/stable-tools.ts");
      const tools = ["a", "aaaaaaaab", "search", "0-0"].map((name) => ({ name }));
      return (text) => closeNames(text, /** @type {any} */ ({ tools }));
    },
  },
  {
    name: "host: schema for a provider",
    load: async () => {
      const { adaptSchema } = await import("../../packages/host/src/catalogue/adapt-schema.ts");
      return (text) => {
        const schema = {
          type: "object",
          properties: { [text]: { $ref: `#/$defs/${text}`, description: text, pattern: text, enum: [text] } },
        };
        return ["openai", "anthropic", "google"].map((provider) =>
          adaptSchema(schema, /** @type {any} */ (provider), { server: "a", tool: "b" }),
        );
      };
    },
  },
];
