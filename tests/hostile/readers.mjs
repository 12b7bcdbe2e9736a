// @ts-check
/* oxlint-disable max-lines -- one table of all readers */

/**
 * A function of the packages that reads a text of a peer.
 *
 * @typedef {object} Reader
 * @property {string} name
 * @property {() => Promise<(text: string) => unknown>} load Imports the function, so that a process loads only what it measures.
 * @property {readonly { head?: string, tail?: string }[]} [around] What stands before and after a hostile text, so that it passes the
 *   first checks of the reader. Default: nothing.
 * @property {number} [maxBytes] The maximum bytes of a text that reaches the function, because of a limit before it. Default: no limit.
 */

/** Bytes of all headers of a message. Node has a limit of 16 KiB, and other runtimes one of up to 128 KiB. */
const headers = { maxBytes: 131_072 };
/** Bytes of a text for a terminal. The width of each character is measured, which takes about a microsecond. */
const terminal = { maxBytes: 1_048_576 };
/** Bytes of one chunk of a pipe or a socket. Other work of the process is done between two chunks. */
const chunk = { maxBytes: 65_536 };

/** @param {string} format @param {readonly { head?: string, tail?: string }[]} [around] @returns {Reader} */
function format(format, around) {
  return {
    name: `format ${format}`,
    load: async () => {
      const { compileJsonSchema } = await import("../support/compile-json-schema.ts");
      return compileJsonSchema({ format });
    },
    ...(around && { around }),
  };
}

/** Reads a text with a function that throws for invalid texts. @param {(text: string) => unknown} read */
function tolerant(read) {
  return (/** @type {string} */ text) => {
    try {
      return read(text);
    } catch (error) {
      return error;
    }
  };
}

/** @param {string} text */
const plain = (text) => text;
/** A view of a terminal with 80 columns and without colours. */
const view = {
  terminal: true,
  width: 80,
  style: { bold: plain, dim: plain, red: plain, yellow: plain, inverse: plain },
};

const eventFields = [{}, { head: "data:" }, { head: "id:" }, { head: "retry:" }, { head: "event:" }];

async function eventStream() {
  const { readEvents } = await import("../../packages/mcparley/src/http/client/sse.ts");
  return (/** @type {string} */ text) => {
    const body = new Response(text).body;
    return readEvents(/** @type {any} */ (body), 16_777_216, { event() {}, retry() {} }).catch(
      (/** @type {unknown} */ error) => error,
    );
  };
}

async function linesOfStdio() {
  const { LineLimit, jsonLines, lineReader } = await import("../../packages/mcparley/src/stdio/lines.ts");
  return (/** @type {string} */ text) => {
    const receiver = { message() {}, malformed() {}, failed() {}, closed() {} };
    const limit = new LineLimit(undefined);
    const reader = lineReader(limit, jsonLines(receiver, limit));
    const bytes = Buffer.from(text);
    for (let start = 0; start < bytes.length; start += chunk.maxBytes) {
      reader.push(bytes.subarray(start, start + chunk.maxBytes));
    }
    reader.end();
  };
}

/** Reads a text if it has no line ending. @param {(text: string) => unknown} read */
function oneLine(read) {
  return (/** @type {string} */ text) => (/[\r\n]/.test(text) ? undefined : read(text));
}

/** @type {readonly Reader[]} */
export const readers = [
  format("date"),
  format("time", [{}, { head: "10:00:00." }, { head: "10:00:00Z" }]),
  format("date-time", [{}, { head: "2026-01-01T10:00:00." }]),
  format("duration", [{}, { head: "P" }, { head: "PT" }]),
  format("email", [
    {},
    { tail: "@example.com" },
    { head: "a@" },
    { head: '"', tail: '"@a.b' },
    { head: "a@[", tail: "]" },
  ]),
  format("hostname"),
  format("ipv4"),
  format("ipv6", [{}, { head: "::" }]),
  format("uri", [{}, { head: "a:" }, { head: "a://" }, { head: "a://b@[" }, { head: "a:?" }, { head: "a:#" }]),
  format("uri-reference", [{}, { head: "//" }, { head: "//[", tail: "]" }]),
  format("uri-template", [{}, { head: "{" }]),
  format("uuid"),
  format("regex", [
    {},
    { head: "[" },
    { head: "(?<" },
    { head: "\\k<" },
    { head: "a{" },
    { head: "\\p{" },
    { tail: "a)*" },
  ]),
  format("json-pointer", [{}, { head: "/" }]),
  format("relative-json-pointer", [{}, { head: "0/" }, { head: "1" }]),
  {
    name: "printable",
    load: async () => (await import("../../packages/mcparley/src/rpc/printable.ts")).printable,
  },
  {
    name: "printableJson",
    load: async () => (await import("../../packages/mcparley/src/rpc/printable.ts")).printableJson,
  },
  {
    name: "redact",
    load: async () => (await import("../../packages/mcparley/src/rpc/redact.ts")).redact,
    around: [
      {},
      { head: "token=" },
      { head: "--token " },
      { head: "bearer " },
      { head: "dpop " },
      { head: "https://" },
      { head: "sk-" },
    ],
  },
  {
    name: "redactKnown",
    load: async () => {
      const { redactKnown } = await import("../../packages/mcparley/src/auth/redact-known.ts");
      return (text) => redactKnown(text, ["aaaaaaaab", "secret-secret"]);
    },
  },
  {
    name: "repairJson",
    load: async () => {
      const { repairJson } = await import("../../packages/mcparley/src/rpc/well-formed.ts");
      return repairJson;
    },
    around: [{}, { head: "\\ud" }],
  },
  {
    name: "wellFormedJson",
    load: async () => (await import("../../packages/mcparley/src/rpc/well-formed.ts")).wellFormedJson,
  },
  {
    name: "parseJson",
    load: async () => tolerant((await import("../../packages/mcparley/src/rpc/parse-json.ts")).parseJson),
    around: [{}, { head: '["', tail: '"]' }, { head: '{"a":"', tail: '"}' }, { head: "[" }, { head: '{"' }],
  },
  {
    name: "fromBase64",
    load: async () => tolerant((await import("../../packages/mcparley/src/rpc/base64.ts")).fromBase64),
  },
  {
    name: "fromBase64Url",
    load: async () => tolerant((await import("../../packages/mcparley/src/rpc/base64.ts")).fromBase64Url),
  },
  {
    name: "cursor",
    load: async () => tolerant((await import("../../packages/mcparley/src/server/features/lists.ts")).readPosition),
    around: [{}, { head: "YWZ0ZXI6" }],
  },
  {
    name: "requestState",
    load: async () => {
      const { sealOf } = await import("../../packages/mcparley/src/server/input/sealed-state.ts");
      const { coreOf, createServer } = await import("../../packages/mcparley/src/server/create-server.ts");
      const server = createServer({ name: "a", version: "1.0.0", stateKeys: [new Uint8Array(32)] });
      const seal = sealOf(coreOf(server));
      return (text) => seal.open(text, () => Promise.resolve("")).catch((/** @type {unknown} */ error) => error);
    },
  },
  {
    name: "URI template",
    load: async () => {
      const { parseTemplate } = await import("../../packages/mcparley/src/schema/uri-template.ts");
      return tolerant(parseTemplate);
    },
  },
  {
    name: "URI of a template",
    load: async () => {
      const { parseTemplate } = await import("../../packages/mcparley/src/schema/uri-template.ts");
      const templates = ["a:{x}", "a:{+x}{+y}", "a:{x}/{y}-{+z}", "a:{?x,y}", "a:{/x*}{?y*}", "a:{.x*}{/y*}{;z*}"].map(
        parseTemplate,
      );
      return (text) => templates.map((template) => template.match(text));
    },
    around: [{ head: "a:" }],
  },
  { name: "event stream: lines", ...chunk, load: eventStream, around: eventFields },
  {
    name: "event stream: one line",
    load: async () => oneLine(await eventStream()),
    around: eventFields,
  },
  { name: "stdio: lines", ...chunk, load: linesOfStdio },
  {
    name: "stdio: one line",
    load: async () => oneLine(await linesOfStdio()),
  },
  {
    name: "JSON-RPC message",
    load: async () => {
      const { classify } = await import("../../packages/mcparley/src/rpc/messages.ts");
      return (text) => classify({ jsonrpc: "2.0", id: text, method: text, params: { [text]: text } });
    },
  },
  {
    name: "error body",
    load: async () => (await import("../../packages/mcparley/src/http/client/error-body.ts")).explanationIn,
    around: [{}, { head: "<p>" }, { head: "<title>" }, { head: '{"message":"', tail: '"}' }],
  },
  {
    name: "headers: Accept",
    ...headers,
    load: async () => tolerant((await import("../../packages/mcparley/src/http/server/read-request.ts")).readAccept),
    around: [{}, { head: "application/json;q=0" }],
  },
  {
    name: "headers: Content-Type of a request",
    ...headers,
    load: async () => {
      const { readJson } = await import("../../packages/mcparley/src/http/server/read-request.ts");
      const limits = { maxBytes: 16, maxDuration: 1 };
      return (text) => {
        const exchange = /** @type {any} */ ({ header: () => text, readText: () => Promise.resolve("{}") });
        return Promise.resolve(readJson(exchange, /** @type {any} */ (limits))).catch(
          (/** @type {unknown} */ error) => error,
        );
      };
    },
    around: [{}, { head: "application/json;" }],
  },
  {
    name: "headers: Content-Type of a response",
    ...headers,
    load: async () => {
      const { isEventStream } = await import("../../packages/mcparley/src/http/client/response.ts");
      return (text) => isEventStream(/** @type {any} */ ({ headers: { get: () => text } }));
    },
  },
  {
    name: "headers: Host and Origin",
    ...headers,
    load: async () => {
      const { makeGuard } = await import("../../packages/mcparley/src/http/server/host-check.ts");
      return tolerant((text) => {
        const guard = makeGuard({});
        return [
          guard(/** @type {any} */ ({ header: () => text })),
          guard(
            /** @type {any} */ ({ header: (/** @type {string} */ name) => (name === "host" ? "localhost" : text) }),
          ),
        ];
      });
    },
    around: [{}, { head: "http://" }, { head: "[" }, { head: "localhost:" }],
  },
  {
    name: "headers: Forwarded",
    ...headers,
    load: async () => {
      const { makeProxyReader } = await import("../../packages/mcparley/src/net/proxy-address.ts");
      const read = makeProxyReader("forwarded");
      return tolerant((text) => read({ header: () => text }));
    },
    around: [{}, { head: "for=" }, { head: 'for="' }, { head: 'for="[', tail: ']"' }, { head: "a=b;" }],
  },
  {
    name: "headers: X-Forwarded-For",
    ...headers,
    load: async () => {
      const { makeProxyReader } = await import("../../packages/mcparley/src/net/proxy-address.ts");
      const read = makeProxyReader("x-forwarded-for");
      return tolerant((text) => read({ header: () => text }));
    },
    around: [{}, { head: "[" }, { head: "::" }],
  },
  {
    name: "headers: Authorization",
    ...headers,
    load: async () => {
      const { readPresented } = await import("../../packages/mcparley/src/auth/server/authorization-headers.ts");
      return tolerant((text) => readPresented(/** @type {any} */ ({ query: "", header: () => text })));
    },
    around: [{}, { head: "Bearer " }, { head: "DPoP " }],
  },
  {
    name: "query: access_token",
    ...headers,
    load: async () => {
      const { readPresented } = await import("../../packages/mcparley/src/auth/server/authorization-headers.ts");
      return tolerant((text) =>
        readPresented(/** @type {any} */ ({ query: text.slice(0, 16_384), header: () => undefined })),
      );
    },
  },
  {
    name: "headers: WWW-Authenticate",
    ...headers,
    load: async () => {
      const { readChallenge } = await import("../../packages/mcparley/src/auth/client/discovery/discovery.ts");
      return (text) =>
        readChallenge(/** @type {any} */ ({ get: () => text })).catch((/** @type {unknown} */ error) => error);
    },
    around: [{}, { head: "Bearer " }, { head: 'Bearer scope="' }, { head: "Bearer a=b," }],
  },
  {
    name: "headers: mirrored values",
    ...headers,
    load: async () => {
      const { decodeHeaderValue, encodeHeaderValue, headerValueMatches } =
        await import("../../packages/mcparley/src/mcp/headers/header-values.ts");
      return (text) => [decodeHeaderValue(text), encodeHeaderValue(text), headerValueMatches("integer", text, 1)];
    },
    around: [{}, { head: "=?base64?", tail: "?=" }],
  },
  {
    name: "keys of _meta",
    load: async () => (await import("../../packages/mcparley/src/mcp/methods.ts")).isMetaKey,
  },
  {
    name: "URL of an elicitation",
    load: async () => (await import("../../packages/mcparley/src/mcp/checks/safe-url.ts")).findUnsafe,
    around: [{}, { head: "https://" }, { head: "https://a/" }, { head: "https://a@" }, { head: "https://[" }],
  },
  {
    name: "content blocks",
    load: async () => {
      const { readContent } = await import("../../packages/mcparley/src/mcp/read-content.ts");
      return (text) =>
        readContent([
          { type: text, [text]: text },
          { type: "image", data: text, mimeType: text },
        ]);
    },
  },
  {
    name: "names of skills and their URIs",
    load: async () => {
      const { isInside, isPlainPath, quoted, rootOf } =
        await import("../../packages/mcparley/src/extensions/skills/skill-entry.ts");
      return tolerant((text) => [rootOf(text), isPlainPath(text), isInside("skill://a", text), quoted(text)]);
    },
    around: [{}, { head: "skill://a/" }, { head: "skill://", tail: "/SKILL.md" }],
  },
  {
    name: "front matter",
    load: async () =>
      tolerant(
        (await import("../../packages/mcparley/src/extensions/skills/front-matter/front-matter.ts")).readFrontMatter,
      ),
    around: [{}, { head: "---\n" }, { head: "---\na: ", tail: "\n---\n" }, { head: "---\na: b\n---\n" }],
  },
  {
    name: "error of an authorization server",
    // The maximum body of a response.
    maxBytes: 1_048_576,
    load: async () => {
      const { withoutSecrets } = await import("../../packages/mcparley/src/auth/client/oauth-error.ts");
      return (text) => withoutSecrets(text, ["secret-secret"]);
    },
  },
  {
    name: "stderr of a server",
    load: async () => {
      const { PassThrough } = await import("node:stream");
      const { exitedError, stderrTail } = await import("../../packages/mcparley/src/stdio/child-process.ts");
      return (text) => {
        const stream = new PassThrough();
        const tail = stderrTail(stream, "ignore", () => {});
        stream.emit("data", Buffer.from(text));
        return exitedError("a", { code: 1, signal: null }, { stderr: tail(), repeated: "", hasSpoken: false });
      };
    },
    around: [{}, { head: "Error: " }, { head: "    at " }],
  },
  {
    name: "completion",
    load: async () => {
      const { readCompleteParams } = await import("../../packages/mcparley/src/mcp/completion.ts");
      return tolerant((text) =>
        readCompleteParams({ ref: { type: "ref/prompt", name: text }, argument: { name: text, value: text } }, 16_384),
      );
    },
  },
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
      const { createResultStore } = await import("../../packages/host/src/conversation/result-handles.ts");
      const call = { callId: "1", name: "a__b", origin: { server: "a", name: "b" } };
      return (text) => {
        const limits = { maxBytes: 32_768, store: createResultStore() };
        const result = { content: [{ type: "text", text }], structuredContent: { a: text } };
        return toResultPart(call, /** @type {any} */ ({ status: "completed", result }), limits);
      };
    },
    around: [{}, { head: "[" }],
  },
  {
    name: "host: file of a result",
    load: async () => {
      const { readBlocks } = await import("../../packages/host/src/conversation/server-content.ts");
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
      const secrets = knownSecrets();
      for (const secret of ["secret-secret", "aaaaaaaaab", "0000000001", 'a"\\b/c d']) secrets.add(secret);
      return secrets.withoutSecrets;
    },
  },
  {
    name: "host: URL request",
    // The client refuses a longer URL.
    maxBytes: 16_384,
    load: async () => {
      const { urlRequest } = await import("../../packages/host/src/input/url-request.ts");
      return tolerant((text) =>
        urlRequest(/** @type {any} */ ({ message: text, url: text }), /** @type {any} */ ({}), "a.b"),
      );
    },
    around: [{}, { head: "https://a/" }, { head: "https://xn--" }],
  },
  {
    name: "host: error of a model",
    load: async () => {
      const { modelError } = await import("../../packages/host/src/model/model-error.ts");
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
  {
    name: "command: visibleLine",
    load: async () => (await import("../../packages/cli/src/terminal/text.ts")).visibleLine,
  },
  {
    name: "command: wrap",
    ...terminal,
    load: async () => {
      const { cut, widthOf, wrap } = await import("../../packages/cli/src/terminal/text.ts");
      return (text) => [wrap(text, 80), cut(text, 80), widthOf(text)];
    },
    around: [{}, { head: "- " }],
  },
  {
    name: "command: serverLines",
    ...terminal,
    load: async () => {
      const { excerpt, exactLines, gutter, quoted, serverLines, shortLine } =
        await import("../../packages/cli/src/terminal/questions/server-text.ts");
      return (text) => [
        excerpt(serverLines(text, view), view),
        excerpt(exactLines(text, view, gutter), view),
        quoted(text),
        shortLine(text),
      ];
    },
  },
  {
    name: "command: JSON in a question",
    ...terminal,
    load: async () => {
      const { shortJson, wholeJson } = await import("../../packages/cli/src/chat/dialogs/json-text.ts");
      return (text) => [shortJson(text, view), wholeJson(text, view)];
    },
  },
  {
    name: "command: paragraph",
    ...terminal,
    load: async () => {
      const { paragraph } = await import("../../packages/cli/src/terminal/screen.ts");
      return (text) => paragraph(text, view);
    },
  },
  {
    name: "command: content of a result",
    ...terminal,
    load: async () => {
      const { showContent, showJson } = await import("../../packages/cli/src/terminal/show-content.ts");
      return (text) => [showContent({ type: "text", text }, view), showJson({ a: text }, view)];
    },
  },
  {
    name: "command: list of tools",
    ...terminal,
    load: async () => {
      const { showToolLines } = await import("../../packages/cli/src/commands/output/show-list.ts");
      return (text) => showToolLines([{ name: text, description: text, inputSchema: { type: "object" } }], view);
    },
  },
  {
    name: "command: mentions",
    ...terminal,
    load: async () => {
      const { findMentions, otherNames, replaceMentions, unescapeMentions } =
        await import("../../packages/cli/src/chat/session/mentions.ts");
      const known = /** @type {any} */ ({ catalogue: { templates: [], resources: [] }, servers: new Map([["a", 1]]) });
      return (text) => [
        findMentions(text, known),
        otherNames(text, known),
        replaceMentions(text, known, () => undefined),
        unescapeMentions(text),
      ];
    },
  },
  {
    name: "command: transcript in Markdown",
    ...terminal,
    load: async () => {
      const { toMarkdown } = await import("../../packages/cli/src/chat/history/transcript.ts");
      const meta = { id: "a", title: "b", model: "c", servers: ["a"], savedAt: 0 };
      return (text) => {
        const from = { server: "a", name: text };
        const content = [{ type: "text", text, from }];
        const messages = [
          { role: "user", content: text },
          { role: "tool", content: [{ type: "tool-result", callId: "1", name: text, content, isError: false }] },
        ];
        return toMarkdown(/** @type {any} */ (messages), meta);
      };
    },
  },
  {
    name: "command: result in the chat",
    ...terminal,
    load: async () => {
      const { callLine, showResult } = await import("../../packages/cli/src/chat/session/show-message.ts");
      return (text) => {
        const content = [{ type: "text", text }];
        showResult(
          /** @type {any} */ ({ content, isError: false }),
          /** @type {any} */ ({ terminal: { print() {} }, view }),
        );
        return callLine("a", { a: text });
      };
    },
  },
  {
    name: "command: answer of a model",
    ...terminal,
    load: async () => {
      const { answerOutput } = await import("../../packages/cli/src/chat/script/answer-output.ts");
      return async (text) => {
        const output = answerOutput({ out: view, print: () => Promise.resolve() });
        await output.write(text);
        await output.endText();
      };
    },
  },
  {
    name: "command: hint for a program",
    load: async () => {
      const { programHint } = await import("../../packages/cli/src/commands/connection/program-hint.ts");
      const { LocalError } = await import("mcparley");
      return (text) =>
        programHint(new LocalError("exited", "a", { data: { exitCode: 1, stderr: text.slice(-8_192) } }), {
          output: text,
          hidden: ["A_B"],
        });
    },
  },
  {
    name: "command: output of a program",
    ...chunk,
    load: async () => {
      const { programOutput } = await import("../../packages/cli/src/commands/connection/program-output.ts");
      return (text) => {
        const output = programOutput({ note() {}, err: view }, { isLive: true });
        output.write(text);
        return output.tail();
      };
    },
  },
  {
    name: "command: URL in a question",
    ...terminal,
    load: async () => {
      const { highlightHost } = await import("../../packages/cli/src/terminal/questions/ask-url.ts");
      return (text) => highlightHost(text, view.style);
    },
    around: [{}, { head: "https://" }],
  },
  {
    name: "command: rows of an input",
    ...terminal,
    load: async () => {
      const { inputRows } = await import("../../packages/cli/src/terminal/interactive/input-rows.ts");
      return (text) => inputRows({ prompt: "> ", text, cursor: text.length }, 80, 10);
    },
  },
];
