import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { type SignIn, memoryCredentials } from "mcparley/auth";
import { afterEach, expect, test, vi } from "vitest";
import { createHost } from "../../../packages/host/src/host/create-host.ts";
import type { CallActivity } from "../../../packages/host/src/activity/active-calls.ts";
import { toAiSdkTools } from "../../../packages/host/src/host/ai-sdk-tools.ts";
import type { Host } from "../../../packages/host/src/host/host.ts";
import type { ServerEntry } from "../../../packages/host/src/servers/server-entry.ts";
import type { Renderer } from "../../../packages/host/src/renderer/renderer.ts";
import { type Canaries, canaries } from "./canaries.ts";
import { type EchoSite, echoSite } from "./echo-site.ts";
import { type EchoingModel, echoingModel } from "./echoing-model.ts";
import { waysOut } from "./ways-out.ts";

const program = fileURLToPath(new URL("echo-program.mjs", import.meta.url));
const open: { close(this: void): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const { close } of open.splice(0).toReversed()) await close();
});

/** Everything that left a host: events, results, requests to the model and to the user, output, files. */
interface Recording {
  add(this: void, place: string, value: unknown): void;
  readonly texts: ReadonlyMap<string, string[]>;
}

function recording(): Recording {
  const texts = new Map<string, string[]>();
  const options = { depth: Infinity, maxStringLength: Infinity, maxArrayLength: Infinity, breakLength: Infinity };
  return {
    texts,
    add(place, value) {
      const text = typeof value === "string" ? value : inspect(value, options);
      texts.set(place, [...(texts.get(place) ?? []), text]);
    },
  };
}

/** Records all questions to the user, and answers them. A call of the program to the tool `fail` is denied with a secret as the reason. */
function recordingRenderer({ add }: Recording, secret: string): Renderer {
  const recorded = <T>(name: string, answer: T) => {
    return (request: object): T => {
      add(`question.${name}`, request);
      return answer;
    };
  };
  return {
    trust: recorded("trust", { action: "trust" }),
    review: recorded("review", { accepted: "all" }),
    approve({ server, origin, tool }) {
      const isDenied = server === "three" && origin.by === "program" && tool.name === "fail";
      return isDenied ? { action: "deny", reason: secret } : { action: "allow" };
    },
    form(request) {
      add("question.form", { ...request, problems: request.check({}) });
      return { action: "decline" };
    },
    url: recorded("url", { action: "decline" }),
    sample: recorded("sample", { action: "allow" }),
    sampled: recorded("sampled", { action: "allow" }),
  };
}

/** Returns servers whose configuration has secrets. */
async function echoingServers({
  plant,
}: Canaries): Promise<{ servers: Record<string, ServerEntry>; signIn: SignIn; secret: string }> {
  const suffixes = ["", "/+=", '"\\', " é", "%2F"];
  const command = (extra: Record<string, string> = {}, count = 40): ServerEntry => ({
    target: {
      command: process.execPath,
      args: [program, "--api-key", plant("/+"), `--auth-token=${plant()}`, plant(), "--password", plant(" é")],
      env: {
        ...extra,
        ...Object.fromEntries(suffixes.map((suffix, index) => [`CANARY_TOKEN_${index}`, plant(suffix)])),
        ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`CANARY_${index}`, plant()])),
      },
    },
    revision: "2025-11-25",
  });
  const site = await echoSite();
  const issued = { accessToken: plant(), refreshToken: plant(), clientSecret: plant() };
  const guarded = await echoSite(issued);
  open.push(site, guarded);
  const web = (): ServerEntry => ({
    target: {
      url: `${site.origin}/${plant()}/mcp?key=${plant()}&page=${plant()}`,
      headers: {
        authorization: `Bearer ${plant("/+=")}`,
        "x-api-key": plant(),
        cookie: `session=${plant()}`,
        "x-tenant": plant(),
      },
    },
    revision: "2025-11-25",
  });
  const servers = { one: command(), two: command(), three: command(), dying: command({ DIES: "1" }) };
  const overHttp = { web: web(), web2: web(), guarded: { target: `${guarded.origin}/mcp`, revision: "2025-11-25" } };
  return {
    servers: { ...servers, ...overHttp },
    signIn: agreeing(guarded, issued.accessToken),
    secret: issued.accessToken,
  };
}

/** Agrees to the first sign-in. Each further one fails with a secret. */
function agreeing({ origin }: EchoSite, secret: string): SignIn {
  let signIns = 0;
  return {
    async prepare() {
      if (++signIns > 1) throw new Error(`The token ${secret} is valid.`);
      return Promise.resolve({
        redirectUri: "http://127.0.0.1:1/callback",
        visit(page) {
          const answer = new URL("http://127.0.0.1:1/callback");
          const state = page.searchParams.get("state") ?? "";
          for (const [name, value] of Object.entries({ code: "code", state, iss: origin })) {
            answer.searchParams.set(name, value);
          }
          return Promise.resolve(answer);
        },
        close: () => Promise.resolve(),
      });
    },
  };
}

/** Uses each function of a host, and records what it returns or throws, by the names of `waysOut`. */
async function useEverything(
  host: Host,
  { add }: Recording,
  { model, secret }: { model: EchoingModel; secret: string },
): Promise<void> {
  const attempt = async (way: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      add(way, await work());
    } catch (error) {
      add(way, error);
    }
  };
  await attempt("server.signIn", () => host.servers.get("guarded")!.signIn());
  await attempt("host.ready", () => host.ready({ wait: Infinity }));
  await attempt("server.connect", () => host.servers.get("dying")!.connect());
  await attempt("server.reconnect", () => host.servers.get("dying")!.reconnect());
  const conversation = host.conversation();
  for (const { server, resource } of host.catalogue.resources) {
    const name = { server, uri: resource.uri };
    await attempt("host.watch", async () => host.watch(name, (uri) => add("host.watch", uri)));
    await attempt("host.readResource", () => host.readResource(server, resource.uri));
    await attempt("conversation.attach", () => conversation.attach(name));
  }
  await vi.waitFor(() => expect(conversation.attachments.some(({ isStale }) => isStale)).toBe(true), {
    timeout: 30_000,
  });
  add("conversation.refresh", await conversation.refresh());
  for (const { server, template } of host.catalogue.templates) {
    const instance = { server, uriTemplate: template.uriTemplate, variables: { word: "fails" } };
    await attempt("conversation.attachTemplate", () => conversation.attachTemplate(instance));
  }
  for (const { name, server } of host.catalogue.prompts) {
    await attempt("host.getPrompt", () => host.getPrompt(name));
    await attempt("conversation.prompt", () => conversation.prompt(name));
    const argument = { name: "word", value: "a" };
    await attempt("host.complete", () => host.complete(server, { ref: { type: "ref/prompt", name: "ask" }, argument }));
    await attempt("conversation.completeArgument", () => conversation.completeArgument({ of: name, argument }));
  }
  const onActivity = (activity: CallActivity): void => add(`activity.${activity.type}`, activity);
  const aiSdk = toAiSdkTools(host);
  for (const { name } of host.catalogue.tools) {
    await attempt("host.callTool", async () => {
      const outcome = await host.callTool(name, {}, { onActivity });
      add(`outcome.${outcome.status}`, outcome);
      return outcome;
    });
    await attempt("conversation.callTool", () => conversation.callTool(name, {}));
    const { description, inputSchema, execute } = aiSdk[name]!;
    add("aiSdk.description", description);
    add("aiSdk.inputSchema", inputSchema);
    await attempt("aiSdk.execute", () => execute({}, { toolCallId: "1" }));
  }
  conversation.user("Call all tools.");
  for (const status of [200, 500, 400, 401]) {
    model.fail(status);
    const run = host.run({ conversation, maxToolTokens: 1_000_000 });
    for await (const event of run) add(`runEvent.${event.type}`, event);
    add("run.finished", await run.finished);
  }
  await attempt("server.signIn", () => host.servers.get("guarded")!.signIn());
  add("conversation.toJSON", JSON.stringify(conversation));
  add("conversation.messages", conversation.messages);
  const typed = host.conversation();
  typed.user(`My token is ${secret}.`);
  add("conversation.toJSON", JSON.stringify(typed));
  add("conversation.attachments", conversation.attachments);
  add("host.catalogue", host.catalogue);
  for (const { info, lists, error } of host.servers.values()) {
    add("server.info", info);
    add("server.lists", lists);
    add("server.error", error);
  }
}

async function addFiles(folder: string, { add }: Recording): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = path.join(entry.parentPath, entry.name);
    add("option.folder", await readFile(file, "utf8"));
  }
}

test("the members of a host and of its parts are the listed ways", async () => {
  const host = await createHost({ folder: false, servers: { a: { command: "a" } } });
  open.push(host);
  const names = (value: object): string[] => {
    const prototype = Object.getPrototypeOf(value) as object;
    const inherited = prototype === Object.prototype ? [] : Object.getOwnPropertyNames(prototype);
    return [...Object.keys(value), ...inherited];
  };
  expect(names(host)).toEqual(Object.keys(waysOut.host));
  expect(names(host.conversation()).toSorted()).toEqual(Object.keys(waysOut.conversation).toSorted());
  expect(names(host.servers.get("a")!)).toEqual(Object.keys(waysOut.server));
  expect(JSON.parse(JSON.stringify(host.servers.get("a")))).toEqual({ name: "a", state: "idle" });
});

test("no planted secret leaves the host on any way", async () => {
  const planted = canaries();
  const recorded = recording();
  const folder = await mkdtemp(path.join(tmpdir(), "mcparley canaries-"));
  open.push({ close: () => rm(folder, { recursive: true }) });
  for (const stream of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(stream, "write").mockImplementation((chunk) => {
      recorded.add("output", String(chunk));
      return true;
    });
    open.push({ close: () => Promise.resolve(spy.mockRestore()) });
  }
  const model = await echoingModel(planted.plant());
  open.push(model);
  const { servers, signIn, secret } = await echoingServers(planted);
  const host = await createHost({
    servers,
    signIn,
    folder,
    model: model.model,
    credentials: memoryCredentials(),
    renderer: recordingRenderer(recorded, secret),
    onEvent: (event) => recorded.add(`event.${event.type}`, event),
    inputLimits: { requestsPerMinute: 1_000 },
  });
  try {
    await useEverything(host, recorded, { model, secret });
  } finally {
    await host.close();
  }
  for (const request of model.requests) recorded.add("option.model", request);
  await addFiles(folder, recorded);

  expect(planted.count).toBeGreaterThanOrEqual(200);
  const complete = ["question.trust", "question.sampled"];
  const leaks = [...recorded.texts].flatMap(([way, texts]) => {
    const found = complete.includes(way) ? [] : texts.flatMap(planted.foundIn);
    return found.length > 0 ? [`${way}: ${[...new Set(found)].slice(0, 3).join(", ")}`] : [];
  });
  expect(leaks).toEqual([]);
  // The servers and the model have sent secrets on each of these ways.
  const ways = Object.entries(waysOut).flatMap(([group, members]) =>
    Object.entries(members).flatMap(([name, way]) => (way === "secrets" ? [`${group}.${name}`] : [])),
  );
  const isRemoved = (way: string): boolean =>
    (recorded.texts.get(way) ?? []).some((text) => text.includes("[redacted]"));
  expect(ways.filter((way) => !isRemoved(way))).toEqual([]);
  expect(recorded.texts.get("run.finished")?.[0]).toContain("answered");
});
