import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundleHost } from "./bundle-host.mjs";

const program = fileURLToPath(new URL("programs/host.mjs", import.meta.url));

/** A host in a process of its own. See `programs/host.mjs` for its commands. */
export interface RunningHost {
  readonly child: ChildProcess;
  /** Writes a command. */
  tell(this: void, command: string): void;
  /** Returns the next line of the host. */
  next(this: void): Promise<Record<string, unknown>>;
  /** Starts a server of each kind, and returns the process id of the watchdog. */
  start(this: void, ...kinds: string[]): Promise<number>;
  /** Returns the ids of the processes of all servers, as far as they have written them. */
  pids(this: void): Promise<number[]>;
  /** Resolves at the end of the host and of its output. */
  readonly closed: Promise<unknown>;
}

/** A folder with the bundled host, in which hosts are started. */
export interface HostFolder {
  /** Starts a host. `node` runs its watchdog. `wrap` starts it with another command. */
  startHost(options?: { node?: string; wrap?: (command: string[]) => string[] }): Promise<RunningHost>;
  /** Ends all processes that are left, and removes the folder. */
  remove(): Promise<void>;
}

/** Bundles the host into a folder, minified, as an application may do. */
export async function hostFolder(): Promise<HostFolder> {
  // The path of the servers contains a space.
  const folder = await mkdtemp(path.join(tmpdir(), "mcparley host-"));
  const library = path.join(folder, "host.mjs");
  await bundleHost(library);
  const hosts: RunningHost[] = [];
  const seen = new Set<number>();
  let started = 0;

  return {
    async startHost({ node, wrap = (command: string[]) => command } = {}) {
      const file = path.join(folder, `pids-${++started}`);
      await writeFile(file, "");
      const [command = "", ...args] = wrap([process.execPath, program, library, file, ...(node ? [node] : [])]);
      const host = controlled(spawn(command, args, { stdio: ["pipe", "pipe", "ignore"], detached: true }), file, seen);
      hosts.push(host);
      return host;
    },
    async remove() {
      for (const { child, pids } of hosts) {
        child.kill("SIGKILL");
        await pids();
      }
      for (const pid of seen) if (await isAlive(pid)) process.kill(pid, "SIGKILL");
      await rm(folder, { recursive: true });
    },
  };
}

function controlled(child: ChildProcess, file: string, seen: Set<number>): RunningHost {
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  child.stdin?.on("error", () => {});
  const tell = (command: string): void => void child.stdin?.write(`${command}\n`);
  const next = async (): Promise<Record<string, unknown>> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error("The host has ended.");
      // A terminal repeats the commands.
      if (value.startsWith("{")) return JSON.parse(value) as Record<string, unknown>;
    }
  };
  const started = next();
  return {
    child,
    tell,
    next,
    closed: once(child, "close"),
    async start(...kinds) {
      await started;
      tell(`start ${kinds.join(" ")}`);
      const pid = Number((await next())["watchdog"]);
      seen.add(pid);
      return pid;
    },
    async pids() {
      const pids = (await readFile(file, "utf8")).trim().split("\n").filter(Boolean).map(Number);
      for (const pid of pids) seen.add(pid);
      return pids;
    },
  };
}

/** Returns whether a process exists that has not ended. On Linux a process that nobody has waited for has ended. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return !/\) [ZX] /.test(stat);
}
