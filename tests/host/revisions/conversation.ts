import type { CallActivity } from "@mcparley/host";
import { callStep, textStep } from "../../../packages/host/src/testing/scripted-model.ts";
import { expect } from "vitest";
import type { Stage } from "./stage.ts";

/** A part of a conversation of a host with a server, with the value that it returns. */
export interface Exchange {
  readonly name: string;
  run(this: void, stage: Stage): Promise<unknown>;
  /** The value on each revision that has the feature. */
  readonly expected: unknown;
  /** The revisions that lack the feature, or a part of it, with the value there. The first one that is not older applies. */
  readonly lacking?: readonly { readonly upTo: string; readonly expected: unknown }[];
}

const lacks = (capability: string, revision: string): string =>
  `failed: This request needs the client capability ${capability}, which revision ${revision} does not have.`;

/** The values of a capability that a number of revisions do not have. */
const without = (capability: string, ...revisions: readonly string[]): NonNullable<Exchange["lacking"]> =>
  revisions.map((upTo) => ({ upTo, expected: [lacks(capability, upTo)] }));

/** Returns the activities of a call, each in a few words. */
function brief(activity: Exclude<CallActivity, { type: "sent" }>): string {
  if (activity.type === "progress") return JSON.stringify(activity.progress);
  if (activity.type === "task") return `task ${activity.task.status}`;
  if (activity.type === "usage") return `usage of ${activity.usage.server}`;
  return activity.type === "input-request" ? `${activity.kind} ${activity.state}` : activity.state;
}

/** Returns the outcome of a call, its activities and the questions to the user. */
async function observe({ call, questions }: Stage, tool: string): Promise<string[]> {
  questions.length = 0;
  const activities: string[] = [];
  // Each call is sent.
  const onActivity = (activity: CallActivity): void => {
    if (activity.type !== "sent") activities.push(brief(activity));
  };
  const outcome = await call(tool, {}, onActivity);
  return [outcome, ...activities, ...questions];
}

/** The conversation, in order. Each exchange leaves the host ready for the next one. */
export const conversation: readonly Exchange[] = [
  {
    name: "lists the definitions of the server",
    run: async ({ host }) => [
      host.catalogue.tools.length,
      host.catalogue.prompts.map(({ name }) => name),
      host.catalogue.resources.map(({ resource }) => resource.uri),
      host.catalogue.templates.map(({ template }) => template.uriTemplate),
    ],
    expected: [12, ["workshop:greet"], ["plan://main"], ["part://{id}"]],
  },
  {
    name: "runs the model, which calls a tool",
    async run({ host, model, answers }) {
      answers.push(callStep([{ name: "workshop__add", input: { a: 1, b: 2 } }]), textStep("Three."));
      const end = await host.run({ messages: [{ role: "user", content: "1 + 2?" }] }).finished;
      const requests = JSON.stringify(model.requests.slice(-2));
      return [end.reason, end.messages.map(({ role }) => role), requests.includes("Measure twice.")];
    },
    expected: ["answered", ["user", "assistant", "tool", "assistant"], true],
  },
  {
    name: "returns structured content",
    async run({ host }) {
      const outcome = await host.callTool("workshop__add", { a: 1, b: 2 });
      return outcome.status === "result" ? [outcome.result.content, outcome.result.structuredContent] : outcome;
    },
    expected: [[{ type: "text", text: '{"sum":3}' }], { sum: 3 }],
  },
  {
    name: "expands a prompt",
    async run({ host }) {
      const { messages } = await host.getPrompt("workshop:greet", { name: "Ada" });
      return messages;
    },
    expected: [{ role: "user", content: { type: "text", text: "Greet Ada." } }],
  },
  {
    name: "completes an argument with the arguments that are known",
    async run({ host }) {
      const ref = { type: "ref/prompt", name: "greet" } as const;
      const argument = { name: "name", value: "A" };
      const { values } = await host.complete("workshop", { ref, argument, context: { language: "en" } });
      return values;
    },
    expected: ["Ada (en)", "Alan (en)"],
    lacking: [{ upTo: "2025-03-26", expected: ["Ada (none)", "Alan (none)"] }],
  },
  {
    name: "reads a resource",
    run: async ({ host }) => (await host.readResource("workshop", "plan://main")).contents,
    expected: [{ uri: "plan://main", mimeType: "text/plain", text: "plan 1" }],
  },
  {
    name: "expands a template, and follows an attached resource",
    async run({ host, call, answers }) {
      const talk = host.conversation();
      await talk.attachTemplate({ server: "workshop", uriTemplate: "part://{id}", variables: { id: "leg" } });
      const plan = await talk.attach({ server: "workshop", uri: "plan://main" });
      const before = JSON.stringify(talk.messages);
      await call("change");
      await expect.poll(() => talk.attachments.map(({ isStale }) => isStale)).toEqual([false, true]);
      answers.push(textStep("Read."));
      talk.user("What is the plan?");
      await host.run({ conversation: talk }).finished;
      const after = JSON.stringify(talk.messages);
      await talk.close();
      const texts = ["part leg", "plan 1", "plan 2"];
      return [plan.isFollowed, ...[before, after].map((text) => texts.map((part) => text.includes(part)))];
    },
    expected: [true, [true, true, false], [true, true, true]],
  },
  {
    name: "answers a form",
    run: (stage) => observe(stage, "order"),
    expected: ["4 boards", "form waiting", "form answered", "form: How many boards? boards 0"],
    lacking: without("elicitation.form", "2024-11-05", "2025-03-26"),
  },
  {
    name: "asks the user to visit a URL",
    run: (stage) => observe(stage, "pay"),
    expected: ["visited", "url waiting", "url answered", "url: https://shop.example/pay shop.example"],
    lacking: without("elicitation.url", "2024-11-05", "2025-03-26", "2025-06-18"),
  },
  {
    name: "samples with the context of an open conversation",
    async run(stage) {
      const talk = stage.host.conversation();
      await talk.attach({ server: "workshop", uri: "plan://main" });
      stage.answers.push(textStep("A plan."));
      const seen = await observe(stage, "summarize");
      await talk.close();
      return [...seen, JSON.stringify(stage.model.requests.at(-1)?.prompt).includes("plan 2")];
    },
    expected: [
      '{"type":"text","text":"A plan."}',
      "sampling waiting",
      "usage of workshop",
      "sampling answered",
      "sample:  of workshop",
      "sampled",
      true,
    ],
  },
  {
    name: "samples with a tool of the server",
    async run(stage) {
      const { answers } = stage;
      answers.push(callStep([{ name: "stock" }]), textStep("Seven."));
      const seen = await observe(stage, "advise");
      answers.length = 0;
      return seen;
    },
    expected: [
      'stock: {"type":"text","text":"Seven."}',
      "sampling waiting",
      "usage of workshop",
      "sampling answered",
      "sampling waiting",
      "usage of workshop",
      "sampling answered",
      "sample: stock of ",
      "sampled",
      "sample: stock of ",
      "sampled",
    ],
    lacking: without("sampling.tools", "2024-11-05", "2025-03-26", "2025-06-18"),
  },
  {
    name: "shares its roots, and replaces them",
    async run({ host, call }) {
      const first = await call("folders");
      await host.setRoots([{ uri: "file:///second" }, { uri: "file:///third" }]);
      return [first, await call("folders")];
    },
    expected: ["file:///first", "file:///second file:///third"],
  },
  {
    name: "reports the progress of a call",
    run: (stage) => observe(stage, "saw"),
    expected: ["sawed", '{"progress":1,"total":2,"message":"half"}', '{"progress":2,"total":2,"message":"done"}'],
    lacking: [{ upTo: "2024-11-05", expected: ["sawed", '{"progress":1,"total":2}', '{"progress":2,"total":2}'] }],
  },
  {
    name: "waits for a task",
    run: async (stage) => [...new Set(await observe(stage, "glue"))],
    expected: ["glued", "task working", "task completed"],
    lacking: [
      {
        upTo: "2025-06-18",
        expected: ["failed: This tool can be called only as a task, and this client does not support tasks."],
      },
    ],
  },
  {
    name: "receives log messages",
    async run({ call, events }) {
      const outcome = await call("knock");
      const logs = (): unknown[] =>
        events.flatMap((event) =>
          event.type === "log" ? [[event.server, event.message.level, event.message.data]] : [],
        );
      await expect.poll(logs).toHaveLength(1);
      return [outcome, logs()];
    },
    expected: ["knocked", [["workshop", "warning", "noise"]]],
  },
  {
    name: "cancels a call, and the server is notified",
    async run({ host, call }) {
      const calling = new AbortController();
      const reason = new Error("The user has cancelled.");
      const onActivity = ({ type }: CallActivity): void => {
        if (type === "progress") calling.abort(reason);
      };
      const outcome = host.callTool("workshop__wait", {}, { signal: calling.signal, onActivity });
      const rejected = await outcome.catch((error: unknown) => error === reason);
      await expect.poll(() => call("cancellations")).toBe("1");
      return [rejected, host.servers.get("workshop")?.state];
    },
    expected: [true, "ready"],
  },
];
