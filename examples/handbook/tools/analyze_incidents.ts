import { ToolError, tool } from "mcparley/server";
import { z } from "zod";
import { type Incident, minutes, quantile, readIncidents } from "../lib/incidents.ts";

const groupings = ["service", "trigger", "severity", "detectedBy", "month"] as const;
type Grouping = (typeof groupings)[number];

/** Number of bootstrap samples for the confidence interval of the median. */
const draws = 4000;

export default tool({
  title: "Analyze the incidents",
  description:
    "Groups the incidents by service, trigger, severity, detector or month. Returns a table with the number of incidents, " +
    "the customer minutes, and the median times to detection and mitigation. With `confidence`, the table also contains a " +
    "bootstrap confidence interval of each median time to mitigation. This takes a few seconds and reports progress.",
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    by: z.enum(groupings).describe("Property to group by"),
    from: z.iso.date().optional().describe("First day to include, such as 2026-03-01"),
    to: z.iso.date().optional().describe("Last day to include, such as 2026-03-31"),
    confidence: z
      .boolean()
      .default(false)
      .describe("Add the 90 % confidence interval of the median time to mitigation"),
  }),
  call: async ({ by, from, to, confidence }, ctx) => {
    const [first, last] = [from, to].map((date) => (date === undefined ? undefined : Date.parse(date)));
    if (first !== undefined && last !== undefined && first > last) {
      throw new ToolError(`"from" (${from}) is after "to" (${to}). Swap the two dates.`);
    }
    const groups = new Map<string, Incident[]>();
    let count = 0;
    for await (const incident of readIncidents(ctx.signal)) {
      if (first !== undefined && incident.began < first) continue;
      if (last !== undefined && incident.began >= last + 86_400_000) continue;
      count += 1;
      const key = by === "month" ? new Date(incident.began).toISOString().slice(0, 7) : incident[by];
      groups.set(key, [...(groups.get(key) ?? []), incident]);
    }
    if (count === 0)
      throw new ToolError("There are no incidents in this period. The data covers January to October 2026.");
    ctx.progress(1, groups.size + 1, `${count} incidents read`);
    const rows: string[] = [];
    for (const [key, incidents] of [...groups].toSorted(([, a], [, b]) => customerMinutes(b) - customerMinutes(a))) {
      const range = confidence ? await medianRange(incidents, ctx.signal) : undefined;
      rows.push(row(key, incidents, range));
      ctx.progress(rows.length + 1, groups.size + 1, key);
    }
    return [header(by, confidence), ...rows, "", ...remarks(count, groups, confidence)].join("\n");
  },
});

function customerMinutes(incidents: readonly Incident[]): number {
  return incidents.reduce((sum, { customers, began, mitigated }) => sum + customers * minutes(began, mitigated), 0);
}

function header(by: Grouping, confidence: boolean): string {
  const ranged = confidence ? " 90 % interval |" : "";
  const columns = `| ${by} | incidents | customer minutes | median minutes to detection | median minutes to mitigation |${ranged}`;
  return `${columns}\n|---|--:|--:|--:|--:|${confidence ? "---|" : ""}`;
}

function row(key: string, incidents: readonly Incident[], range: string | undefined): string {
  const detected = quantile(
    incidents.map(({ began, detected }) => minutes(began, detected)),
    0.5,
  );
  const mitigated = quantile(
    incidents.map(({ began, mitigated }) => minutes(began, mitigated)),
    0.5,
  );
  const cells = [key, incidents.length, customerMinutes(incidents).toLocaleString("en"), detected, mitigated];
  return `| ${[...cells, ...(range === undefined ? [] : [range])].join(" | ")} |`;
}

function remarks(count: number, groups: ReadonlyMap<string, unknown[]>, confidence: boolean): string[] {
  const small = [...groups].filter(([, incidents]) => incidents.length < 5).map(([key]) => key);
  return [
    `${count} incidents, from handbook://resources/incidents.csv. Times are measured from the first affected user.`,
    ...(small.length > 0 ? [`Fewer than five incidents, inspect them individually: ${small.join(", ")}.`] : []),
    ...(confidence ? ["90 % interval: bootstrap confidence interval of the median minutes to mitigation."] : []),
  ];
}

/** Returns the 90 % confidence interval of the median minutes to mitigation, by bootstrap (sampling with replacement). */
async function medianRange(incidents: readonly Incident[], signal: AbortSignal): Promise<string> {
  const times = incidents.map(({ began, mitigated }) => minutes(began, mitigated));
  const medians: number[] = [];
  for (let draw = 0; draw < draws; draw += 1) {
    medians.push(
      quantile(
        times.map(() => times[Math.floor(Math.random() * times.length)]!),
        0.5,
      ),
    );
    if (draw % 500 === 499) {
      // Yields to the event loop, so that the server can process other calls and a cancellation of this one.
      await new Promise(setImmediate);
      signal.throwIfAborted();
    }
  }
  return `${Math.round(quantile(medians, 0.05))} to ${Math.round(quantile(medians, 0.95))}`;
}
