// @ts-check

/**
 * @typedef {object} EchoConnection
 * @property {(message: object) => void} send sends a message to the client
 * @property {(method: string, params: object) => Promise<unknown>} ask sends a request, and resolves with the response
 */

/** Returns a text with each secret: plain, in base64, percent-encoded, and as JSON. @param {readonly string[]} secrets */
export function everyForm(secrets) {
  const base64 = (/** @type {string} */ text) => Buffer.from(text).toString("base64");
  return secrets
    .flatMap((one) => [one, base64(one), base64(`user:${one}`), encodeURIComponent(one), JSON.stringify({ one })])
    .join(" ");
}

/**
 * Answers the requests of a client of 2025-11-25 with the secrets in each text.
 *
 * @param {() => readonly string[]} secrets
 * @param {EchoConnection} connection
 */
export function echoServer(secrets, { send, ask }) {
  const { results, entry } = echoResults(secrets);
  return async (/** @type {{ id?: unknown, method?: string, params?: any }} */ { id, method = "", params = {} }) => {
    if (id === undefined || id === null) return;
    const text = everyForm(secrets());
    const fail = () => send({ id, error: { code: -32000, message: text, data: { headers: [text], [text]: text } } });
    if (method === "tools/call" && params.name === "fail") return fail();
    if (method === "resources/read" && params.uri === "test://fails") return fail();
    if (method === "tools/call") {
      const progressToken = params._meta?.progressToken;
      send({ method: "notifications/progress", params: { progressToken, progress: 1, message: text } });
      send({ method: "notifications/message", params: { level: "error", logger: text, data: { [text]: text } } });
      await ask("elicitation/create", { mode: "form", message: text, requestedSchema: formOf(text) });
      const url = `https://example.com/?sent=${encodeURIComponent(secrets().join(" "))}`;
      await ask("elicitation/create", { mode: "url", message: text, url, elicitationId: text });
      const messages = [{ role: "user", content: { type: "text", text } }];
      await ask("sampling/createMessage", { messages, systemPrompt: text, maxTokens: 100 });
    }
    const result = results(text)[method];
    if (method === "resources/subscribe" || method === "resources/read") {
      send({ method: "notifications/resources/updated", params: { uri: `${params.uri}#${text}` } });
    }
    send(result ? { id, result } : { id, error: { code: -32601, message: `${entry(text).title} is unknown` } });
  };
}

/** @param {string} text */
function formOf(text) {
  const property = { type: "string", title: text, description: text, default: text };
  return { type: "object", properties: { answer: property } };
}

/** @param {() => readonly string[]} secrets */
function echoResults(secrets) {
  let reads = 0;
  const entry = (/** @type {string} */ text) => ({ title: text, description: text });
  const uri = () => `test://page?sent=${encodeURIComponent(secrets().join(" "))}`;
  const results = (/** @type {string} */ text) => {
    const form = formOf(text);
    // A keyword that model providers do not accept, which the host reports with its path.
    const lost = { [text]: { type: "object", patternProperties: { [text]: { type: "string" } } } };
    const schema = { ...form, properties: { ...form.properties, ...lost }, description: text, $comment: text };
    const tools = ["echo", "fail"].map((name) => ({
      name,
      ...entry(text),
      inputSchema: schema,
      _meta: { [text]: text },
    }));
    // The host leaves it out, and reports an error with its name.
    tools.push(/** @type {any} */ ({ name: text, inputSchema: 5 }));
    const content = [
      { type: "text", text },
      { type: "resource", resource: { uri: uri(), text } },
      { type: "resource_link", uri: uri(), name: text },
    ];
    const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} };
    const serverInfo = { name: text, title: text, version: "1.0.0" };
    /** @type {Record<string, object>} */
    const all = {
      initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo, instructions: text },
      ping: {},
      "logging/setLevel": {},
      "tools/list": { tools },
      "prompts/list": { prompts: [{ name: "ask", ...entry(text), arguments: [{ name: "word", description: text }] }] },
      "resources/list": {
        resources: [
          { uri: uri(), name: text, ...entry(text) },
          { uri: "test://fails", name: "a" },
        ],
      },
      "resources/templates/list": { resourceTemplates: [{ uriTemplate: "test://{word}", name: text, ...entry(text) }] },
      "tools/call": { content, structuredContent: { [text]: [text] }, isError: true },
      "resources/subscribe": {},
      "resources/read": { contents: [{ uri: uri(), text: `${text} ${++reads}` }] },
      "completion/complete": { completion: { values: [text.slice(0, 1_500), text], hasMore: false } },
      "prompts/get": { description: text, messages: [{ role: "user", content: { type: "text", text } }] },
    };
    return all;
  };
  return { results, entry };
}
