import type { ServerCore } from "../../server/core/server-core.ts";
import type { Cluster, ClusterUse } from "./cluster.ts";

interface Shared {
  readonly load: () => Promise<Cluster>;
  /** The functions that end the use of the cluster, one for each endpoint. */
  readonly users: Set<() => Promise<void>>;
  readonly stop: () => Promise<void>;
}

/** The cluster of each server. All endpoints of a server in this process share one. */
const clusters = new WeakMap<ServerCore, Shared>();

/** Returns the cluster of a server. Undefined if the server has no store. The code is loaded on first use. */
export function useCluster(core: ServerCore): ClusterUse | undefined {
  if (!core.definition.store) return undefined;
  const { load, users, stop } = clusters.get(core) ?? share(core);
  const leave = async (): Promise<void> => {
    if (users.delete(leave) && users.size === 0) await stop();
  };
  users.add(leave);
  return { load, leave };
}

function share(core: ServerCore): Shared {
  let loading: Promise<Cluster> | undefined;
  // Most servers have no store, and need none of this code. It is the only place that imports `cluster/`.
  const load = (): Promise<Cluster> =>
    (loading ??= import("../../cluster/index.ts").then(({ openCluster }) => openCluster(core)));
  const removeRelay = core.changes.addRelay({
    send: (change) => void load().then(({ relay }) => relay.send(change)),
    join: () => load().then(({ relay }) => relay.join()),
    flushed: () => load().then(({ relay }) => relay.flushed()),
    completeVisit: (id) => load().then(({ relay }) => relay.completeVisit(id)),
  });
  const stop = async (): Promise<void> => {
    clusters.delete(core);
    removeRelay();
    await (await loading)?.stop();
  };
  const cluster = { load, users: new Set<() => Promise<void>>(), stop };
  clusters.set(core, cluster);
  return cluster;
}
