import type { Store } from "mcparley/server";
import type * as StorePackage from "@mcparley/redis";
import type * as RedisPackage from "redis";
import { UsageError, version } from "../../terminal/io.ts";

export interface OpenStore {
  store: Store;
  close(): Promise<void>;
}

type StoreModule = Pick<typeof StorePackage, "redisStore">;
type Redis = Pick<typeof RedisPackage, "createClient" | "createCluster">;

/** The optional packages that a store needs. A test passes others. */
export interface StorePackages {
  store: () => Promise<StoreModule>;
  client: () => Promise<Redis>;
}

const installedPackages: StorePackages = { store: () => import("@mcparley/redis"), client: () => import("redis") };

/** Connection timeout in milliseconds. */
const connectTimeout = 5_000;

const protocols: Record<string, string> = {
  "redis:": "redis:",
  "rediss:": "rediss:",
  "valkey:": "redis:",
  "valkeys:": "rediss:",
};

/**
 * Opens the Redis or Valkey store that a URL names. Detects whether it is a cluster.
 *
 * Calls `tell` with a line for each lost or restored connection. Throws `UsageError` if the store is unavailable. No message contains
 * the URL's password.
 */
export async function openStore(
  address: string,
  tell: (line: string) => void,
  packages: StorePackages = installedPackages,
): Promise<OpenStore> {
  const url = readUrl(address);
  const [{ redisStore }, redis] = await importPackages(packages);
  const client = (await isCluster(redis, url)) ? clusterClient(redis, url) : redis.createClient({ url: url.href });
  reportConnection(client, tell);
  await client.connect().catch((error: unknown) => {
    client.destroy();
    throw unusable(url, error);
  });
  const store = redisStore({ client });
  return {
    store,
    async close() {
      await store.close();
      client.destroy();
    },
  };
}

function readUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const protocol = url && protocols[url.protocol];
  if (!url || protocol === undefined) {
    const problem = url ? `does not support ${url.protocol}//` : "needs a URL";
    throw new UsageError(`--store ${problem}.`, "Give a URL such as redis://127.0.0.1:6379 or rediss://….");
  }
  return new URL(url.href.replace(url.protocol, protocol));
}

/** Imports the optional packages. Throws `UsageError` with the command that installs the missing ones. */
async function importPackages({ store, client }: StorePackages): Promise<[StoreModule, Redis]> {
  const [ours, theirs] = await Promise.all([ifInstalled(store()), ifInstalled(client())]);
  if (ours && theirs) return [ours, theirs];
  const missing = [...(ours ? [] : ["@mcparley/redis"]), ...(theirs ? [] : ["redis"])];
  const isOne = missing.length === 1;
  // The store and the command have the same version.
  const packages = missing.map((name) => (name === "redis" ? name : `${name}@${version}`));
  throw new UsageError(
    `--store needs the package${isOne ? "" : "s"} ${missing.join(" and ")}, which ${isOne ? "is" : "are"} not installed.`,
    `Run npm install ${packages.join(" ")} in the project of the command, or with --global if the command is installed globally.`,
  );
}

/** Returns the module, or undefined if it or a dependency of it is not installed. */
async function ifInstalled<T>(importing: Promise<T>): Promise<T | undefined> {
  try {
    return await importing;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    return undefined;
  }
}

/** Returns whether the server belongs to a cluster. Throws `UsageError` without a retry if the connection fails. */
async function isCluster({ createClient }: Redis, url: URL): Promise<boolean> {
  const socket = { connectTimeout, reconnectStrategy: false as const };
  const client = createClient({ url: url.href, socket }).on("error", () => {});
  try {
    await client.connect();
    // Every user may send HELLO, but not INFO.
    return /"mode"[,:]"cluster"/.test(JSON.stringify(await client.sendCommand(["HELLO"])));
  } catch (error) {
    throw unusable(url, error);
  } finally {
    if (client.isOpen) client.destroy();
  }
}

function unusable({ host }: URL, error: unknown): UsageError {
  const why = error instanceof Error && error.message !== "" ? error.message : "no connection could be made";
  const [code] = why.split(" ");
  if (code === "WRONGPASS" || code === "NOAUTH") {
    const cure =
      "Give the user and password in the URL, redis://USER:PASSWORD@HOST; MCPARLEY_STORE hides it from other users.";
    return new UsageError(`The authentication at the store ${host} failed: ${why}`, cure);
  }
  const cure =
    code === "NOPERM" ? "Allow the user this command." : "Check that it is running and that its URL is correct.";
  return new UsageError(`The store at ${host} cannot be used: ${why}`, cure);
}

/** Creates a cluster client. The credentials and TLS of the URL apply to every server of the cluster. */
function clusterClient({ createCluster }: Redis, url: URL): ReturnType<Redis["createCluster"]> {
  const { username, password, protocol } = url;
  const defaults = {
    ...(username !== "" && { username: decodeURIComponent(username) }),
    ...(password !== "" && { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" && { socket: { tls: true as const } }),
  };
  return createCluster({ rootNodes: [{ url: url.href }], defaults });
}

/** Reports a lost connection once, and not again for each failed reconnect. */
function reportConnection(
  client: { on(event: string, listener: (error?: unknown) => void): unknown },
  tell: (line: string) => void,
): void {
  let isLost = false;
  client.on("error", (error) => {
    if (!isLost) tell(`The store is unavailable: ${error instanceof Error ? error.message : String(error)}`);
    isLost = true;
  });
  for (const event of ["ready", "node-ready"]) {
    client.on(event, () => {
      if (isLost) tell("The store is available again.");
      isLost = false;
    });
  }
}
