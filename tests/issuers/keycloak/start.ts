import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";

/** Milliseconds until a started Keycloak must listen. The first start of a new distribution prepares it. */
const startTime = 180_000;

/** The administrator of the master realm. */
export const administrator = { username: "admin", password: "admin" };

/** Options of Java for programs that run for a short time: it compiles less. */
export const quickJava = { JAVA_OPTS_APPEND: "-XX:TieredStopAtLevel=1", KC_OPTS: "-XX:TieredStopAtLevel=1" };

/** A running Keycloak with an empty database in memory. */
export interface Keycloak {
  readonly origin: string;
  /** The folder of this run, with the programs of Keycloak in `bin`. */
  readonly home: string;
  /** Ends the process. The next start has an empty database. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
  /** Ends the process and deletes its folder. */
  close(): Promise<void>;
}

/** Starts the distribution in a folder with separate data, at a port of the system. */
export async function startKeycloak(distribution: string): Promise<Keycloak> {
  // `kc.sh` cannot run in a folder whose name has a quote, so the folder is not the one for temporary files.
  const home = mkdtempSync(path.join(path.dirname(distribution), "run-"));
  let child: ChildProcess | undefined;
  const endNow = (): void => {
    endGroup(child);
    rmSync(home, { recursive: true, force: true });
  };
  process.once("exit", endNow);

  async function stop(): Promise<void> {
    const ended = child && child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    endGroup(child);
    await ended;
  }

  async function start(port: number): Promise<number> {
    child = launch(home, port);
    return listeningPort(child);
  }

  async function close(): Promise<void> {
    await stop();
    endNow();
    process.off("exit", endNow);
  }

  try {
    makeHome(home, distribution);
    const port = await start(0);
    const origin = `http://127.0.0.1:${port}`;
    return { origin, home, stop, start: async () => void (await start(port)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Makes the folder of one run: the data are separate, and everything else belongs to the distribution. */
function makeHome(home: string, distribution: string): void {
  cpSync(path.join(distribution, "bin"), path.join(home, "bin"), { recursive: true });
  for (const name of ["conf", "lib", "providers", "themes"]) {
    symlinkSync(path.join(distribution, name), path.join(home, name));
  }
}

function launch(home: string, port: number): ChildProcess {
  const options = ["--db=dev-mem", "--http-host=127.0.0.1", `--http-port=${port}`];
  return spawn(path.join(home, "bin/kc.sh"), ["start-dev", ...options], {
    // A group of its own, because the script starts Java as another process.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      ...quickJava,
      KC_BOOTSTRAP_ADMIN_USERNAME: administrator.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: administrator.password,
    },
  });
}

/** Resolves with the port at which Keycloak listens. Rejects with the end of its output if it does not. */
function listeningPort(child: ChildProcess): Promise<number> {
  let output = "";
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`Keycloak ${why}. ${output.trim().slice(-1_000)}`));
    const timer = setTimeout(() => fail(`does not listen after ${startTime / 1_000} s`), startTime);
    const read = (chunk: unknown): void => {
      output = (output + String(chunk)).slice(-10_000);
      const [, port] = /Listening on: http:\/\/127\.0\.0\.1:(\d+)/.exec(output) ?? [];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", (error) => fail(`cannot be started: ${error.message}`));
    child.once("exit", (code) => {
      clearTimeout(timer);
      fail(`has ended with ${code}`);
    });
  });
}

/** Ends the script and the Java that it started. */
function endGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
