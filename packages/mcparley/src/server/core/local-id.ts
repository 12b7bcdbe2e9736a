import type { ServerCore } from "./server-core.ts";

/** Milliseconds by which the clocks of two machines may differ. */
const skew = 10_000;
const form = /^[0-9a-f-]{36}\.([0-9a-z]{8})\.([0-9a-z]{1,11})$/;

const tags = new WeakMap<ServerCore, string>();

function tagOf(core: ServerCore): string {
  const tag = tags.get(core) ?? crypto.randomUUID().slice(0, 8);
  tags.set(core, tag);
  return tag;
}

/**
 * Makes an id that cannot be guessed. Without a store, it contains the time and a tag of the server object, so that another server
 * object can explain why it does not know the id.
 */
export function makeId(core: ServerCore): string {
  if (core.definition.store) return crypto.randomUUID();
  return `${crypto.randomUUID()}.${tagOf(core)}.${core.clock.now().toString(36)}`;
}

/**
 * Returns why an id of `makeId` is unknown here, for the error of its request: "was made by another process ...", with a period. Undefined for
 * an id of this server object, and any other text. Warns if the other one was created at the same time or later: then it is no
 * predecessor of this one.
 */
export function explainUnknownId(core: ServerCore, id: string): string | undefined {
  const [, tag, time = ""] = form.exec(id) ?? [];
  if (tag === undefined || tag === tags.get(core)) return undefined;
  const isOlder = Number.parseInt(time, 36) < core.startedAt - skew;
  if (isOlder) return "was made before this process started.";
  warnOfOtherProcess(core);
  return `was made by another process, or another server object of this one. Create the server once. ${needsStore}`;
}

const needsStore = "Processes behind one address need the same store: createServer({ store }).";

/** Warns that requests of one client reach several processes that do not share their state. */
export function warnOfOtherProcess(core: ServerCore): void {
  const fact = "A request names a session, a task or a requestState that another process has made.";
  core.warn(`${fact} ${needsStore} Without one, route each client to one process.`);
}
