// @ts-check
import { chunk, oneLine, tolerant } from "./reader.mjs";

/** @import { Reader } from "./reader.mjs" */

/** Bytes of all headers of a message. Node has a limit of 16 KiB, and other runtimes one of up to 128 KiB. */
const headers = { maxBytes: 131_072 };

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

/** The readers of headers, event streams and errors over HTTP. @type {readonly Reader[]} */
export const httpReaders = [
  { name: "event stream: lines", ...chunk, load: eventStream, around: eventFields },
  {
    name: "event stream: one line",
    load: async () => oneLine(await eventStream()),
    around: eventFields,
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
        return readJson(exchange, /** @type {any} */ (limits), (value) => value).catch(
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
    name: "error of an authorization server",
    // The maximum body of a response.
    maxBytes: 1_048_576,
    load: async () => {
      const { withoutSecrets } = await import("../../packages/mcparley/src/auth/client/oauth-error.ts");
      return (text) => withoutSecrets(text, ["secret-secret"]);
    },
  },
];
