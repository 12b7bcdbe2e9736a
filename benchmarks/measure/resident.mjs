// @ts-check
import { readFileSync, writeFileSync } from "node:fs";

/** The resident memory of a process: now, and its peak since the last reset. In bytes. @typedef {{ now: number, peak: number }} Resident */

/** Resets the kernel's record of a process's peak. Returns false on other systems than Linux. @param {number | "self"} [pid] */
export function resetPeak(pid = "self") {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    return true;
  } catch {
    return false;
  }
}

/** Reads the resident memory of a process. Returns undefined on other systems than Linux. @param {number | "self"} [pid] @returns {Resident | undefined} */
export function residentOf(pid = "self") {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kibibytes = (/** @type {string} */ name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
    return { now: kibibytes("VmRSS") * 1024, peak: kibibytes("VmHWM") * 1024 };
  } catch {
    return undefined;
  }
}
