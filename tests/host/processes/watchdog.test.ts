import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type ExpectStatic, afterAll, beforeAll, describe, test } from "vitest";
import program from "../../../packages/host/src/processes/watchdog-program.cjs?raw";
import { type HostFolder, type RunningHost, hostFolder, isAlive } from "./start-host.ts";

const isLinux = process.platform === "linux";
let folder: HostFolder;
beforeAll(async () => {
  folder = await hostFolder();
});
afterAll(() => folder.remove());

/** The kinds of servers that have to end, and the number of their processes. */
const kinds = ["obedient", "deaf", "stubborn", "family", "launcher"];
const processes = 7;

/** Resolves with the ids of all processes of the servers when each has started. */
async function allPids(expect: ExpectStatic, host: RunningHost, count: number): Promise<number[]> {
  await expect.poll(async () => (await host.pids()).length).toBe(count);
  return host.pids();
}

/** Returns the title of a process, or its command line if it has set none. */
function argumentsOf(pid: number): string {
  return spawnSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" }).stdout;
}

async function expectEnd(expect: ExpectStatic, pids: readonly number[]): Promise<void> {
  for (const pid of pids) await expect.poll(() => isAlive(pid), { message: `process ${pid} runs` }).toBe(false);
}

describe
  .skipIf(process.platform === "win32")
  .concurrent("no process of a server remains after the end of the host", () => {
    test.for(["exit", "throw", "reject", "abort"])("by itself: %s", async (command, { expect }) => {
      const host = await folder.startHost();
      const watchdog = await host.start(...kinds);
      const pids = await allPids(expect, host, processes);
      host.tell(command);
      await host.closed;
      await expectEnd(expect, [...pids, watchdog]);
    });

    test.for(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL", "SIGSEGV"] as const)(
      "by %s, sent to its process group",
      async (signal, { expect }) => {
        const host = await folder.startHost();
        const watchdog = await host.start(...kinds);
        const pids = await allPids(expect, host, processes);
        process.kill(-host.child.pid!, signal);
        await host.closed;
        await expectEnd(expect, [...pids, watchdog]);
      },
    );

    test.runIf(isLinux && existsSync("/usr/bin/script"))("when its terminal is closed", async ({ expect }) => {
      const wrap = (command: string[]): string[] => [
        "/usr/bin/script",
        "-qec",
        command.map((part) => `'${part.replaceAll("'", String.raw`'\''`)}'`).join(" "),
        "/dev/null",
      ];
      const host = await folder.startHost({ wrap });
      const watchdog = await host.start(...kinds);
      const pids = await allPids(expect, host, processes);
      host.child.kill("SIGKILL");
      await host.closed;
      await expectEnd(expect, [...pids, watchdog]);
    });

    test.runIf(isLinux)(
      "although the host dies before the watchdog has received the process id",
      async ({ expect }) => {
        const host = await folder.startHost();
        const watchdog = await host.start("obedient");
        host.tell("dieInStart stubborn");
        await host.closed;
        // The watchdog is stopped until the server ignores SIGTERM.
        const pids = await allPids(expect, host, 3);
        expect(await isAlive(pids[2]!)).toBe(true);
        process.kill(watchdog, "SIGCONT");
        await expectEnd(expect, [...pids, watchdog]);
      },
    );

    test("although the watchdog receives the signals that end the host", async ({ expect }) => {
      const host = await folder.startHost();
      const watchdog = await host.start("stubborn");
      const pids = await allPids(expect, host, 1);
      // The watchdog sets its title after its listeners. An earlier signal would end it.
      await expect.poll(() => argumentsOf(watchdog)).toMatch(/^mcparley-watchdog/);
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(watchdog, signal);
      host.child.kill("SIGKILL");
      await host.closed;
      await expectEnd(expect, [...pids, watchdog]);
    });
  });

describe.skipIf(process.platform === "win32").concurrent("the watchdog", () => {
  test("does not keep the host alive, and ends with it", async ({ expect }) => {
    const host = await folder.startHost();
    const watchdog = await host.start("obedient", "obedient");
    host.tell("drain");
    expect(await host.closed).toEqual([0, null]);
    await expectEnd(expect, [...(await host.pids()), watchdog]);
  });

  test("does not hold the output of the host open", async ({ expect }) => {
    const host = await folder.startHost();
    const watchdog = await host.start("stubborn");
    const pids = await allPids(expect, host, 1);
    process.kill(watchdog, "SIGSTOP");
    host.child.kill("SIGKILL");
    await host.closed;
    expect(await isAlive(watchdog)).toBe(true);
    process.kill(watchdog, "SIGCONT");
    await expectEnd(expect, [...pids, watchdog]);
  });

  test("ends the servers that still run, and itself, when it is closed", async ({ expect }) => {
    const host = await folder.startHost();
    const watchdog = await host.start("family");
    const pids = await allPids(expect, host, 2);
    host.tell("close");
    await expectEnd(expect, [...pids, watchdog]);
    expect(await isAlive(host.child.pid!)).toBe(true);
    host.tell("errors");
    await host.next();
    expect(await host.next()).toEqual({ errors: [] });
  });

  test("is one process for all servers of a host", async ({ expect }) => {
    const host = await folder.startHost();
    const first = await host.start("obedient");
    expect(await host.start("obedient", "deaf")).toBe(first);
    host.child.kill("SIGKILL");
    await expectEnd(expect, [...(await host.pids()), first]);
  });

  test("is started again with the next server after its death, which is reported once, and watches all servers", async ({
    expect,
  }) => {
    const host = await folder.startHost();
    const first = await host.start("stubborn");
    host.tell("endWatchdog");
    await expectEnd(expect, [first]);
    await expect
      .poll(async () => {
        host.tell("watchdog");
        return host.next();
      })
      .toEqual({ watchdog: null });
    const second = await host.start("stubborn", "obedient");
    expect(second).not.toBe(first);
    host.tell("errors");
    expect(await host.next()).toEqual({
      errors: [expect.stringMatching(/^The watchdog of the servers' processes has ended: ended by SIGKILL\. If this/)],
    });
    const pids = await allPids(expect, host, 3);
    host.child.kill("SIGKILL");
    await expectEnd(expect, [...pids, second]);
  });

  test("is reported once if it cannot be started, and the servers are used without it", async ({ expect }) => {
    const host = await folder.startHost({ node: "/no/such/node" });
    await host.start("obedient", "obedient");
    host.tell("errors");
    expect(await host.next()).toEqual({
      errors: [
        'The watchdog of the servers\' processes could not be started with "/no/such/node": spawn /no/such/node ENOENT.' +
          " If this process is killed now, servers that ignore the end of their input keep running." +
          " Install Node, or correct its path.",
      ],
    });
    host.tell("drain");
    expect(await host.closed).toEqual([0, null]);
  });

  test("leaves a process that a server has moved to its own session", async ({ expect }) => {
    const host = await folder.startHost();
    const watchdog = await host.start("daemon");
    const pids = await allPids(expect, host, 2);
    host.child.kill("SIGKILL");
    await expectEnd(expect, [watchdog]);
    expect((await Promise.all(pids.map(isAlive))).filter(Boolean)).toHaveLength(1);
  });

  test.runIf(isLinux)("sends no signal to a process that has the id of a server by now", async ({ expect }) => {
    // Each look at a process finds another start time, as if its id were used again.
    const changingTimes = `{
      const fs = require("node:fs");
      const { readFileSync } = fs;
      let time = 0;
      fs.readFileSync = (file, ...options) =>
        file.endsWith("/stat") ? "1 (node) S" + \` \${++time}\`.repeat(30) : readFileSync(file, ...options);
    }`;
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 60_000)"], { detached: true, stdio: "ignore" });
    const text = program.replace('"use strict";', changingTimes);
    const watchdog = spawn(process.execPath, ["-e", text, "A=b"], { stdio: ["pipe", "ignore", "inherit"] });
    watchdog.stdin.end(`starting 1\nstarted 1 ${other.pid}\n`);
    expect(await once(watchdog, "exit")).toEqual([0, null]);
    const ended = once(other, "exit");
    other.kill("SIGINT");
    expect(await ended).toEqual([null, "SIGINT"]);
  });
});
