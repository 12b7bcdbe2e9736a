import { type ChildProcess, spawn } from "node:child_process";

/** Sends a signal to a child that leads a process group, and to its descendants. On Windows it ends the process tree. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(child.pid), "/T", "/F"], { windowsHide: true }).on("error", () => child.kill());
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has ended.
  }
}
