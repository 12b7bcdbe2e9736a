import { randomUUID } from "node:crypto";
import type { CommandTarget, ProcessListener } from "mcparley/client";
import { watchdogProcess } from "./watchdog-process.ts";

/** A second process that ends the servers of a host when the host has died, in any way. */
export interface Watchdog {
  /** Id of the watchdog's process. Undefined if it does not run. For diagnostics. */
  readonly pid: number | undefined;
  /**
   * Returns the target with an `onStart` that reports each of its processes to the watchdog. Starts the watchdog if it does
   * not run, so call it just before the connection is opened.
   */
  watched(this: void, target: CommandTarget): CommandTarget;
  /** Ends the watchdog. It first ends the servers that still run. */
  close(this: void): void;
}

export interface WatchdogOptions {
  /** Called if the watchdog cannot be started or dies, and with errors of the `onStart` of a target. */
  readonly onError: (error: Error) => void;
  /** Path of Node. Default: the program of this process. */
  readonly node?: string | undefined;
}

/** Name of the environment variable that marks the servers of a host. */
const MARKER = "MCPARLEY_HOST_ID";

/**
 * Creates a watchdog. Its process starts with the first watched target, does not keep this process alive, and ends with it.
 *
 * When this process ends without `close()`, also by a signal or a crash, each server that still runs receives SIGTERM, and
 * SIGKILL after 1.5 seconds, as a process group. On Windows the process trees are killed. A process that a server has moved to
 * a session of its own is not ended, as with the `close()` of a client: it may be the browser of the user.
 *
 * If the watchdog dies, `onError` is called, and the next start of a server starts another one, which watches all servers.
 */
export function openWatchdog({ onError, node = process.execPath }: WatchdogOptions): Watchdog {
  const id = randomUUID();
  /** The processes that have not ended, by the number of their start. The value is undefined until the process id is known. */
  const servers = new Map<number, number | undefined>();
  let starts = 0;
  const watchdog = watchdogProcess({ node, marker: `${MARKER}=${id}`, onError, onRunning: reportAll });

  function reportAll(): void {
    for (const [number, pid] of servers) {
      watchdog.write(`starting ${number}`);
      if (pid !== undefined) watchdog.write(`started ${number} ${pid}`);
    }
  }

  function onStart(): Required<ProcessListener> {
    watchdog.ensureRunning();
    const number = ++starts;
    servers.set(number, undefined);
    // Before the process is created, so that the watchdog finds it if this process dies before the next message.
    watchdog.write(`starting ${number}`);
    return {
      started(pid) {
        servers.set(number, pid);
        watchdog.write(`started ${number} ${pid}`);
      },
      ended() {
        servers.delete(number);
        watchdog.write(`ended ${number}`);
      },
    };
  }

  return {
    get pid() {
      return watchdog.pid;
    },
    watched(target) {
      watchdog.ensureRunning();
      return {
        ...target,
        env: { ...target.env, [MARKER]: id },
        onStart: () => both(onStart(), target.onStart, onError),
      };
    },
    close: watchdog.close,
  };
}

/** Returns a listener that calls the watchdog's listener, and then that of the target. */
function both(
  ours: Required<ProcessListener>,
  onStart: CommandTarget["onStart"],
  onError: (error: Error) => void,
): ProcessListener {
  let theirs: ProcessListener | undefined;
  try {
    theirs = onStart?.();
  } catch (error) {
    onError(error instanceof Error ? error : new Error(String(error)));
  }
  return {
    started(pid) {
      ours.started(pid);
      theirs?.started?.(pid);
    },
    ended() {
      ours.ended();
      theirs?.ended?.();
    },
  };
}
