import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError, tool } from "mcparley/server";

const drawer = join(import.meta.dirname, "..", "var", "incidents");

export default tool({
  title: "File an incident",
  description:
    "Writes the record of a new incident into var/incidents. Asks the user for the severity, who leads, and whether to " +
    "file it at all; nothing is written without their word.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: {
    type: "object",
    properties: {
      title: { type: "string", description: "What users notice, in one line", minLength: 5, maxLength: 120 },
      service: {
        type: "string",
        enum: ["booking-api", "notifier", "payments", "platform", "reports", "search", "warehouse-sync", "web"],
      },
      notes: { type: "string", description: "What is known so far", maxLength: 10_000 },
    },
    required: ["title", "service"],
    additionalProperties: false,
  },
  call: async (input, ctx) => {
    const { title, service, notes = "" } = input as { title: string; service: string; notes?: string };
    const answer = await ctx.elicit({
      key: "severity",
      message: `File the incident "${title}" (${service})?`,
      schema: {
        type: "object",
        properties: {
          severity: {
            type: "string",
            title: "Severity",
            description: "SEV1: most users, or data or money. SEV2: many. SEV3: some. SEV4: nobody yet.",
            enum: ["SEV1", "SEV2", "SEV3", "SEV4"],
          },
          lead: { type: "string", title: "Lead", description: "Who decides, by name", minLength: 1, maxLength: 60 },
          confirm: { type: "boolean", title: "File it now", default: true },
        },
        required: ["severity", "confirm"],
      },
    });
    const { severity, lead, confirm } = answer as { severity: string; lead?: string; confirm: boolean };
    if (!confirm) throw new ToolError("The user decided not to file the incident. Nothing was written.");
    // On protocols without sessions the handler runs again after each answer: this must happen once.
    const file = await ctx.once("file", () =>
      write({ title, service, notes, severity, lead: lead ?? "not named yet" }),
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
  await mkdir(drawer, { recursive: true });
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
    notes.trim() || "None yet.",
  ];
  for (let number = (await readdir(drawer)).length + 1; ; number += 1) {
    const name = `${now.slice(0, 10)}-${String(number).padStart(3, "0")}.md`;
    try {
      // Two people may file at once: whoever comes second takes the next number.
      await writeFile(join(drawer, name), `${lines.join("\n")}\n`, { flag: "wx" });
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
  if (severity === "SEV1") return "Call for help at once, open a channel, and tell everyone within 5 minutes.";
  if (severity === "SEV2") return "Open a channel, and tell support and the status page within 15 minutes.";
  return severity === "SEV3" ? "Answer within the next working hour." : "Look at it this week.";
}
