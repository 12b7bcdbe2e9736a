import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { type SignIn, memoryCredentials } from "mcparley/auth";
import { afterEach, expect, test, vi } from "vitest";
import { createHost } from "../../../packages/host/src/host/create-host.ts";
import type { Host } from "../../../packages/host/src/host/host.ts";
import type { ServerEntry } from "../../../packages/host/src/servers/server-entry.ts";
import type { Renderer } from "../../../packages/host/src/renderer/renderer.ts";
import { type Canaries, canaries } from "./canaries.ts";
import { type EchoSite, echoSite } from "./echo-site.ts";
import { type EchoingModel, echoingModel } from "./echoing-model.ts";

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

/** Records all questions to the user, and agrees to them. */
function recordingRenderer({ add }: Recording): Renderer {
  return {
    trust(request) {
      add("trust", request);
      return { action: "trust" };
    },
    review(request) {
      add("review", request);
      return { accepted: "all" };
    },
    approve(request) {
      add("approve", request);
      return { action: "allow" };
    },
    form(request) {
      add("form", request);
      return { action: "decline" };
    },
    sample(request) {
      add("sample", request);
      return { action: "allow" };
    },
    sampled(request) {
      add("sampled", request);
      return { action: "allow" };
    },
  };
}

/** Returns servers whose configuration has secrets. */
async function echoingServers({ plant }: Canaries): Promise<{ servers: Record<string, ServerEntry>; signIn: SignIn }> {
  const suffixes = ["", "/+=", '"\\', " é", "%2F"];
  const command = (extra: Record<string, string> = {}, count = 12): ServerEntry => ({
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
  return { servers: { ...servers, ...overHttp }, signIn: agreeing(guarded) };
}

function agreeing({ origin }: EchoSite): SignIn {
  return {
    prepare: () =>
      Promise.resolve({
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
      }),
  };
}

/** Uses each function of a host, and records what it returns or throws. */
async function useEverything(host: Host, { add }: Recording, model: EchoingModel): Promise<void> {
  const attempt = async (place: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      add(place, await work());
    } catch (error) {
      add(`error of ${place}`, error);
    }
  };
  const names = [...host.servers.keys()];
  await attempt("signIn", () => host.servers.get("guarded")!.signIn());
  await attempt("ready", () => host.ready({ wait: Infinity }));
  for (const server of names) await attempt("connect", () => host.servers.get(server)!.connect());
  const conversation = host.conversation();
  for (const { server, resource } of host.catalogue.resources) {
    await attempt("readResource", () => host.readResource(server, resource.uri));
    await attempt("attach", () => conversation.attach({ server, uri: resource.uri }));
    await attempt("watch", () => host.watch({ server, uri: resource.uri }, () => {}));
  }
  for (const { name, server } of host.catalogue.prompts) {
    await attempt("getPrompt", () => host.getPrompt(name));
    await attempt("prompt", () => conversation.prompt(name));
    const completion = { ref: { type: "ref/prompt", name: "ask" }, argument: { name: "word", value: "a" } } as const;
    await attempt("complete", () => host.complete(server, completion));
  }
  const onActivity = (activity: unknown): void => add("activity", activity);
  for (const { name } of host.catalogue.tools) await attempt("callTool", () => host.callTool(name, {}, { onActivity }));
  conversation.user("Call all tools.");
  for (const status of [200, 500, 400, 401]) {
    model.fail(status);
    const run = host.run({ conversation, maxToolTokens: 1_000_000 });
    for await (const event of run) add("run event", event);
    add("run", await run.finished);
  }
  add("conversation", JSON.stringify(conversation));
  add("attachments", conversation.attachments);
  add("catalogue", host.catalogue);
  for (const { info, lists, error } of host.servers.values()) add("server", { info, lists, error });
}

async function addFiles(folder: string, { add }: Recording): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = path.join(entry.parentPath, entry.name);
    add(`file ${entry.name.replaceAll(/[\da-f]{12,}/g, "…")}`, await readFile(file, "utf8"));
  }
}

test("no planted secret reaches the model, an event, an error, the user, the output or a file", async () => {
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
  const { servers, signIn } = await echoingServers(planted);
  const host = await createHost({
    servers,
    signIn,
    folder,
    model: model.model,
    credentials: memoryCredentials(),
    renderer: recordingRenderer(recorded),
    onEvent: (event) => recorded.add(`event ${event.type}`, event),
    inputLimits: { requestsPerMinute: 1_000 },
  });
  try {
    await useEverything(host, recorded, model);
  } finally {
    await host.close();
  }
  for (const request of model.requests) recorded.add("model request", request);
  await addFiles(folder, recorded);

  expect(planted.count).toBeGreaterThanOrEqual(100);
  // The user must see the whole command before it is started.
  const checked = [...recorded.texts].filter(([place]) => place !== "trust");
  const leaks = checked.flatMap(([place, texts]) => {
    const found = texts.flatMap(planted.foundIn);
    return found.length > 0 ? [`${place}: ${[...new Set(found)].slice(0, 3).join(", ")}`] : [];
  });
  expect(leaks).toEqual([]);
  // The servers have sent the secrets to all of these places.
  const places = [...recorded.texts].filter(([, texts]) => texts.some((text) => text.includes("[redacted]")));
  expect(places.map(([place]) => place)).toEqual(expect.arrayContaining(echoed));
  expect(recorded.texts.get("run")?.[0]).toContain("answered");
});

const echoed = [
  "review",
  "form",
  "sample",
  "event log",
  "event server",
  "activity",
  "callTool",
  "getPrompt",
  "error of readResource",
  "error of complete",
  "error of connect",
  "run event",
  "run",
  "conversation",
  "catalogue",
  "server",
  "model request",
];
