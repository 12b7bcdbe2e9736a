import { type FakeClock, fakeClock, flushPromises } from "mcparley/testing";
import type { ServerLists } from "../../catalogue/catalogue.ts";
import { memoryState } from "../../state/state-storage.ts";
import type { ServerState } from "../server-state.ts";
import { type ServerEntry, resolveEntry } from "../../servers/server-entry.ts";
import { Supervisor } from "../supervisor.ts";
import type { SupervisorSetting } from "../supervisor-setting.ts";

/** A supervised server, and everything that it reported. */
export interface RecordedServer {
  readonly server: Supervisor;
  readonly clock: FakeClock;
  /** The states that were reported, in order. */
  readonly states: readonly ServerState[];
  readonly lists: readonly (ServerLists | undefined)[];
  readonly updatedUris: readonly string[];
  readonly errors: readonly Error[];
}

/** Supervises a server with a fake clock and a storage in memory, and records its events. */
export function recordedServer({
  name = "notes",
  entry,
  ...setting
}: Omit<SupervisorSetting, "storage" | "clock"> &
  Partial<Pick<SupervisorSetting, "storage">> & {
    name?: string;
    entry: ServerEntry;
    clock?: FakeClock;
  }): RecordedServer {
  const clock = setting.clock ?? fakeClock(1_000_000);
  const states: ServerState[] = [];
  const lists: (ServerLists | undefined)[] = [];
  const updatedUris: string[] = [];
  const errors: Error[] = [];
  const server = new Supervisor(resolveEntry(name, entry), {
    storage: memoryState(),
    ...setting,
    clock,
    onEvent: ({ state }) => states.push(state),
    onLists: (current) => lists.push(current),
    onUpdated: (uri) => updatedUris.push(uri),
    onError: (error) => errors.push(error),
  });
  return { server, clock, states, lists, updatedUris, errors };
}

/** Waits for a condition that depends on promises and not on time, such as the end of an `import()`. */
export async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await flushPromises();
}
