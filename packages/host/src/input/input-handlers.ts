import type { ClientObserver, ConnectOptions, Root, RootsHandler } from "mcparley/client";
import type { ModelSetting } from "../model/language-model.ts";
import { type StreamModel, streamModel } from "../model/stream-model.ts";
import type { Renderer } from "../renderer/renderer.ts";
import { elicitHandler } from "./elicit-handler.ts";
import { type InputContext, decide, withinLimits, type InputLimits, RequestCounter } from "./input-context.ts";
import { type ContextFor, sampleHandler, TokenBudget } from "./sample-handler.ts";

/** The server of the handlers, and the parts of the host that they use. */
export interface InputSettings extends Omit<InputContext, "counter"> {
  /** The host name of the server's URL, to compare it with that of pages. Undefined for a program. */
  readonly serverHost?: string | undefined;
  readonly renderer: Renderer | undefined;
  readonly model: ModelSetting | undefined;
  /** Sends requests to the model. If omitted, they are not repeated. */
  readonly stream?: StreamModel;
  /** Returns the roots for this server. Undefined if it receives none. */
  readonly roots: (() => readonly Root[]) | undefined;
  /** Limits with their defaults, from `checkLimits`. */
  readonly limits: InputLimits;
  readonly contextFor?: ContextFor | undefined;
}

/** Options of `connect` that answer the input requests of a server. */
export type InputHandlers = Pick<
  ConnectOptions,
  "elicit" | "elicitModes" | "sample" | "sampleTools" | "sampleContext" | "roots" | "observers"
>;

/**
 * Returns the options of `connect` that answer the input requests of one server. A handler exists only if its requests can be
 * answered, so that the client declares no other capability and the server can use another way.
 *
 * Use the options for all connections to the server. The limits apply to the server and not to a connection.
 */
export function inputHandlers(settings: InputSettings): InputHandlers {
  const { renderer = {}, model, stream = streamModel, roots, limits, clock, serverHost, contextFor } = settings;
  const counter = new RequestCounter(limits, clock);
  const context: InputContext = { ...settings, counter };
  const modes = (["form", "url"] as const).filter((mode) => renderer[mode] !== undefined);
  const { sample, sampled } = renderer;
  return {
    observers: [callObserver(counter)],
    ...(modes.length > 0 && { elicit: elicitHandler(context, renderer, serverHost), elicitModes: modes }),
    ...(model &&
      sample &&
      sampled && {
        sample: sampleHandler(context, {
          model,
          stream,
          renderer: { sample, sampled },
          budget: new TokenBudget(limits),
          contextFor,
        }),
        sampleTools: true,
        sampleContext: contextFor !== undefined,
      }),
    ...(roots && { roots: rootsHandler(context, roots) }),
  };
}

/** Reports the start and the end of each call, by the label that `during` of an input request has. */
function callObserver(counter: RequestCounter): ClientObserver {
  return {
    started({ method, name }) {
      const label = name === undefined ? method : `${method} ${JSON.stringify(name.slice(0, 200))}`;
      return { ended: counter.callStarted(label) };
    },
  };
}

/** Shares the roots with a server that requests them. `roots` is called for each request, because the roots can change. */
function rootsHandler(context: InputContext, roots: () => readonly Root[]): RootsHandler {
  return (source) =>
    withinLimits(context, { kind: "roots", source }, () => {
      decide(context, { subject: "roots", name: "roots/list", outcome: "allowed", by: "configuration" });
      return Promise.resolve(roots());
    });
}
