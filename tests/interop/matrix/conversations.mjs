/**
 * The features that are tried with each client in JavaScript. This module loads on every runtime.
 *
 * @typedef {{ type: string, text?: string }} Content
 * @typedef {{ content: Content[], structuredContent?: Record<string, unknown>, isError?: boolean }} ToolResult
 * @typedef {{ signal?: AbortSignal, onProgress?: (progress: { progress: number }) => void }} CallOptions
 * @typedef {{ elicit: () => object, sample: () => object }} Handlers
 *
 * A client, in the same words for each library.
 * @typedef {object} Peer
 * @property {string | undefined} serverName
 * @property {string | undefined} [revision]
 * @property {() => Promise<{ name: string }[]>} listTools
 * @property {(name: string, args: object, options?: CallOptions) => Promise<ToolResult>} callTool
 * @property {() => Promise<{ name: string }[]>} [listPrompts]
 * @property {(name: string, args: Record<string, string>) => Promise<{ messages: { content: Content }[] }>} [getPrompt]
 * @property {() => Promise<{ uri: string }[]>} [listResources]
 * @property {() => Promise<{ uriTemplate: string }[]>} [listTemplates]
 * @property {(uri: string) => Promise<{ contents: { text?: string }[] }>} [readResource]
 * @property {(ref: object, argument: { name: string, value: string }) => Promise<string[]>} [complete]
 * @property {(uri: string, onUpdated: (uri: string) => void) => Promise<() => Promise<unknown>>} [subscribe]
 * @property {() => Promise<unknown>} close
 *
 * @typedef {{ command: string, args: string[] } | { url: string }} Where
 * @typedef {{ where: Where, revisionKind: "legacy" | "modern", revision: string, handlers: Handlers }} Setup
 *
 * The input of a client, and the outcome of one feature.
 * @typedef {Omit<Setup, "handlers"> & { names?: Partial<Names>, skip?: string[] }} Assignment
 * @typedef {{ feature: string, ok: boolean, error?: string }} Report
 */

/** Milliseconds for one feature. Inspector starts up to three processes for it, each of which takes seconds on a busy machine. */
const limit = 30_000;

/** @param {unknown} condition @param {string} message */
function must(condition, message) {
  if (!condition) throw new Error(message);
}

/** @param {ToolResult} result */
const textOf = (result) => result.content.map(({ text }) => text ?? "").join("");

/** The answers of the user and the model of each client. @param {object} answer @returns {Handlers} */
const answering = (answer) => ({
  elicit: () => ({ action: "accept", content: answer }),
  sample: () => ({
    role: "assistant",
    model: "scripted",
    stopReason: "endTurn",
    content: { type: "text", text: "forty-two" },
  }),
});

/** @type {Record<string, (peer: Peer, names: Names) => Promise<void>>} */
const features = {
  async tools({ listTools, callTool }, names) {
    const listed = (await listTools()).map(({ name }) => name);
    must(listed.includes(names.add), `tools/list has no "${names.add}": ${listed.join(", ")}`);
    const result = await callTool(names.add, names.addArguments);
    must(JSON.stringify(result).includes("42"), `${names.add} gave ${JSON.stringify(result)}`);
    if (!names.fail) return;
    const failed = await callTool(names.fail, {});
    must(failed.isError === true, `a failing tool gave ${JSON.stringify(failed)}`);
  },
  async prompts({ listPrompts, getPrompt }, names) {
    const listed = (await listPrompts?.())?.map(({ name }) => name) ?? [];
    must(listed.includes(names.greet), `prompts/list has no "${names.greet}": ${listed.join(", ")}`);
    const got = await getPrompt?.(names.greet, names.greetArguments);
    must(JSON.stringify(got).includes("Ada"), `prompts/get gave ${JSON.stringify(got)}`);
  },
  async resources({ listResources, listTemplates, readResource }, names) {
    const listed = (await listResources?.())?.map(({ uri }) => uri) ?? [];
    must(listed.includes(names.memo), `resources/list has no "${names.memo}": ${listed.join(", ")}`);
    const read = await readResource?.(names.memo);
    must(read?.contents[0]?.text?.includes(names.memoText), `resources/read gave ${JSON.stringify(read)}`);
    if (!names.template) return;
    const templates = (await listTemplates?.())?.map(({ uriTemplate }) => uriTemplate) ?? [];
    must(templates.includes(names.template), `resources/templates/list gave ${templates.join(", ")}`);
    const other = await readResource?.(names.otherMemo);
    must(other?.contents[0]?.text?.includes(names.otherText), `a template's resource gave ${JSON.stringify(other)}`);
  },
  async completion({ complete }, names) {
    const values = await complete?.({ type: "ref/prompt", name: names.completed }, names.completion);
    must(values?.includes(names.completes), `completion/complete gave ${JSON.stringify(values)}`);
  },
  async progress({ callTool }, names) {
    /** @type {number[]} */
    const seen = [];
    await callTool(names.slow, names.slowArguments, { onProgress: ({ progress }) => void seen.push(progress) });
    const before = [...seen];
    must(before.length >= 3, `heard of progress ${before.length} times before the result, of 3`);
    must(
      before.every((value, index) => index === 0 || value > (before[index - 1] ?? 0)),
      `progress went ${before.join(", ")}`,
    );
  },
  async cancel({ callTool }, names) {
    const controller = new AbortController();
    const onProgress = () => setTimeout(() => controller.abort(), 50);
    setTimeout(() => controller.abort(), 1_500);
    const call = callTool(names.wait, names.waitArguments, { signal: controller.signal, onProgress });
    await call.then(
      () => {
        throw new Error("the call that was cancelled gave a result");
      },
      () => {},
    );
    if (!names.cancelled) {
      // The result of the call is unknown; the connection must stay open.
      await callTool(names.add, names.addArguments);
      return;
    }
    for (let tries = 0; tries < 30; tries++) {
      if (textOf(await callTool(names.cancelled, {})) !== "0") return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    must(false, "the handler never heard that it was cancelled");
  },
  async elicitation({ callTool }, names) {
    const result = await callTool(names.ask, {});
    must(textOf(result).includes("blue"), `the tool that asks gave ${JSON.stringify(result)}`);
  },
  async sampling({ callTool }, names) {
    const result = await callTool(names.sample, names.sampleArguments);
    must(textOf(result).includes("forty-two"), `the tool that samples gave ${JSON.stringify(result)}`);
  },
  async subscriptions({ subscribe, callTool }, names) {
    /** @type {(uri: string) => void} */
    let hear = () => {};
    const heard = new Promise((resolve) => (hear = resolve));
    const end = await subscribe?.(names.memo, (uri) => hear(uri));
    await callTool(names.change, {});
    must((await heard) === names.memo, `heard of ${await heard}`);
    await end?.();
  },
};

/** The names in the fixtures of this matrix. Published servers use other names, or lack a feature. */
const ownNames = {
  server: "interop",
  add: "add",
  addArguments: /** @type {object} */ ({ a: 2, b: 40 }),
  fail: "fail",
  greet: "greet",
  greetArguments: /** @type {Record<string, string>} */ ({ name: "Ada" }),
  memo: "memo://a",
  memoText: "memo a",
  template: "memo://{id}",
  otherMemo: "memo://b",
  otherText: "memo b",
  completed: "greet",
  completion: { name: "name", value: "A" },
  completes: "Ada",
  slow: "slow",
  slowArguments: /** @type {object} */ ({}),
  wait: "wait",
  waitArguments: {},
  cancelled: "cancelled",
  ask: "ask",
  answer: /** @type {object} */ ({ colour: "blue" }),
  sample: "sample",
  sampleArguments: {},
  change: "change",
};

/** @typedef {typeof ownNames} Names */

/**
 * Connects as assigned, tries one feature after the other, and reports each outcome.
 *
 * @param {Assignment} assignment
 * @param {(setup: Setup) => Promise<Peer>} connect
 * @param {(outcome: Report) => void} report
 */
export async function converse({ where, revisionKind, revision, names = {}, skip = [] }, connect, report) {
  const all = { ...ownNames, ...names };
  const opened = await attempt("lifecycle", report, async () => {
    const peer = await connect({ where, revisionKind, revision, handlers: answering(all.answer) });
    must(peer.serverName === all.server, `the server calls itself ${String(peer.serverName)}`);
    return peer;
  });
  if (!opened) return;
  for (const [feature, run] of Object.entries(features)) {
    if (!skip.includes(feature)) await attempt(feature, report, () => run(opened, all));
  }
  await attempt("close", report, () => opened.close());
}

/**
 * @template T
 * @param {string} feature
 * @param {(outcome: Report) => void} report
 * @param {() => Promise<T>} run
 * @returns {Promise<T | undefined>}
 */
async function attempt(feature, report, run) {
  let timer;
  const tooLong = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${limit} ms`)), limit);
  });
  try {
    const value = /** @type {T} */ (await Promise.race([run(), tooLong]));
    report({ feature, ok: true });
    return value;
  } catch (error) {
    report({ feature, ok: false, error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
