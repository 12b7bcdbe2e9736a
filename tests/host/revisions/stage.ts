import { type CallActivity, type Host, type HostEvent, type Renderer, createHost } from "@mcparley/host";
import type { JsonObject } from "mcparley";
import { type ScriptedPart, scriptedModel } from "../../../packages/host/src/testing/scripted-model.ts";
import { type TransportName, targets } from "./targets.ts";

/** A host with one server, whose user accepts everything. */
export interface Stage {
  readonly host: Host;
  readonly model: ReturnType<typeof scriptedModel>;
  /** The questions of the server to the user, as texts. */
  readonly questions: string[];
  readonly events: HostEvent[];
  /** The next answers of the model. */
  readonly answers: ScriptedPart[][];
  /** Calls a tool of the server, and returns its outcome as one text. */
  call(this: void, name: string, args?: JsonObject, onActivity?: (activity: CallActivity) => void): Promise<string>;
  close(this: void): Promise<void>;
}

/** Starts a server of one revision over one transport, and a host that uses it. */
export async function openStage(revision: string, transport: TransportName): Promise<Stage> {
  const questions: string[] = [];
  const events: HostEvent[] = [];
  const answers: ScriptedPart[][] = [];
  const step = (): ScriptedPart[] => answers.shift() ?? [new Error("The script has no further answer.")];
  const model = scriptedModel(Array.from({ length: 20 }, () => step));
  const { target, close } = await targets[transport]();
  const host = await createHost({
    folder: false,
    servers: { workshop: { target, revision } },
    model,
    roots: [{ uri: "file:///first" }],
    policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
    renderer: acceptingRenderer(questions),
    onEvent: (event) => events.push(event),
  });
  await host.ready({ wait: 60_000 });
  return {
    host,
    model,
    questions,
    events,
    answers,
    async call(name, args = {}, onActivity) {
      const outcome = await host.callTool(`workshop__${name}`, args, { ...(onActivity && { onActivity }) });
      if (outcome.status !== "result") return `${outcome.status}: ${outcome.message}`;
      const texts = outcome.result.content.map((block) => (block.type === "text" ? block.text : block.type));
      return `${outcome.result.isError ? "error: " : ""}${texts.join(" ")}`;
    },
    async close() {
      await host.close();
      await close();
    },
  };
}

/** A user who accepts everything, and whose questions are recorded. */
function acceptingRenderer(questions: string[]): Renderer {
  return {
    form({ message, fields, check }) {
      const content = { boards: 4 };
      questions.push(`form: ${message} ${fields.map(({ name }) => name).join()} ${check(content).length}`);
      return { action: "accept", content };
    },
    url({ url, host }) {
      questions.push(`url: ${url} ${host}`);
      return { action: "accept" };
    },
    sample({ request, contextOf }) {
      questions.push(`sample: ${(request.tools ?? []).map(({ name }) => name).join()} of ${contextOf.join()}`);
      return { action: "allow" };
    },
    sampled() {
      questions.push("sampled");
      return { action: "allow" };
    },
  };
}
