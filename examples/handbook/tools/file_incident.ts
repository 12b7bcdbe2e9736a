import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError, tool } from "mcparley/server";
import { z } from "zod";

const folder = join(import.meta.dirname, "..", "var", "incidents");

export default tool({
  title: "File an incident",
  description:
    "Writes the record of a new incident to var/incidents. Asks the user for the severity, the lead and a confirmation. " +
    "Without the confirmation, nothing is written.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    title: z.string().min(5).max(120).describe("Impact on users, in one line"),
    service: z.enum(["booking-api", "notifier", "payments", "platform", "reports", "search", "warehouse-sync", "web"]),
    notes: z.string().max(10_000).default("").describe("Known facts"),
  }),
  call: async ({ title, service, notes }, ctx) => {
    const { severity, lead, confirm } = await ctx.elicit({
      key: "severity",
      message: `File the incident "${title}" (${service})?`,
      schema: z.object({
        severity: z.enum(["SEV1", "SEV2", "SEV3", "SEV4"]).meta({
          title: "Severity",
          description: "Affected users. SEV1: most, or loss of data or money. SEV2: many. SEV3: some. SEV4: none yet.",
        }),
        lead: z
          .string()
          .min(1)
          .max(60)
          .optional()
          .meta({ title: "Lead", description: "Name of the person who makes the decisions" }),
        confirm: z.boolean().default(true).meta({ title: "File the incident now" }),
      }),
    });
    if (!confirm) throw new ToolError("The user decided not to file the incident. Nothing was written.");
    // On stateless revisions the handler runs again after the answer. `once` ensures that the file is written once.
    const file = await ctx.once("file", () =>
      write({ title, service, notes, severity, lead: lead ?? "not assigned yet" }),
    );
    ctx.log.notice({ filed: file, severity, service });
    return `Filed as ${file} with ${severity}. ${nextStep(severity)}`;
  },
});

interface Report {
  title: string;
  service: string;
  notes: string;
  severity: string;
  lead: string;
}

async function write({ title, service, notes, severity, lead }: Report): Promise<string> {
  await mkdir(folder, { recursive: true });
  const now = new Date().toISOString();
  const lines = [
    `# ${oneLine(title)}`,
    "",
    `- Severity: ${severity}`,
    `- Service: ${service}`,
    `- Lead: ${oneLine(lead)}`,
    `- Declared: ${now}`,
    "",
    "## Notes",
    "",
    notes.trim() || "None.",
  ];
  for (let number = (await readdir(folder)).length + 1; ; number += 1) {
    const name = `${now.slice(0, 10)}-${String(number).padStart(3, "0")}.md`;
    try {
      // Another call may create this file at the same time. In this case, try the next number.
      await writeFile(join(folder, name), `${lines.join("\n")}\n`, { flag: "wx" });
      return `var/incidents/${name}`;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function nextStep(severity: string): string {
  if (severity === "SEV1")
    return "Escalate immediately, open an incident channel, and notify everyone within 5 minutes.";
  if (severity === "SEV2")
    return "Open an incident channel. Notify support and update the status page within 15 minutes.";
  return severity === "SEV3" ? "Respond within the next working hour." : "Respond within this week.";
}
