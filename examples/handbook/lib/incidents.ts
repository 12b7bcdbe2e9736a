import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { resources } from "./documents.ts";

/** One line of incidents.csv. Times are milliseconds since the epoch. */
export interface Incident {
  id: string;
  severity: string;
  service: string;
  trigger: string;
  began: number;
  detected: number;
  mitigated: number;
  customers: number;
  detectedBy: string;
  postmortem: string;
}

const columns = "id,severity,service,trigger,began,detected,mitigated,customers,detected_by,postmortem";

/** Reads the incidents line by line. Throws if the header or a line is invalid. */
export async function* readIncidents(signal?: AbortSignal): AsyncGenerator<Incident> {
  const input = createReadStream(join(resources, "incidents.csv"), { encoding: "utf8", ...(signal && { signal }) });
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    number += 1;
    if (number === 1) {
      if (line !== columns) throw new Error(`The header of incidents.csv must be ${columns}`);
    } else if (line !== "") {
      yield parse(line, number);
    }
  }
}

function parse(line: string, number: number): Incident {
  const cells = line.split(",");
  const [id = "", severity = "", service = "", trigger = ""] = cells;
  const [began = NaN, detected = NaN, mitigated = NaN] = cells.slice(4, 7).map((time) => Date.parse(time));
  const [customers, detectedBy = "", postmortem] = cells.slice(7);
  const affected = Number(customers);
  if (postmortem === undefined || !Number.isInteger(affected) || Number.isNaN(began + detected + mitigated)) {
    throw new Error(`Line ${number} of incidents.csv is not a valid incident: ${line}`);
  }
  const times = { began, detected, mitigated };
  return { id, severity, service, trigger, ...times, customers: affected, detectedBy, postmortem };
}

/** Returns the rounded minutes between two times in milliseconds. */
export function minutes(from: number, to: number): number {
  return Math.round((to - from) / 60_000);
}

/** Returns the quantile of the values. `share` is a number from 0 to 1; 0.5 returns the median. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(position)]!, sorted[Math.ceil(position)]!];
  return low + (high - low) * (position - Math.floor(position));
}
