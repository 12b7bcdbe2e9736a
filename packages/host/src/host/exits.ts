import { ignoreErrors } from "../values/errors.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { WithoutSecrets } from "../values/types.ts";
import type { HostEvent } from "./host.ts";
import type { FormContent, FormRequest, Renderer, SampledRequest } from "../renderer/renderer.ts";
import { type Retries, type StreamModel, streamModel } from "../model/stream-model.ts";

/** Returns the filter for the texts of a server, or for those of the host. */
export type FilterFor = (server: string | undefined) => WithoutSecrets;

type Listener = (event: HostEvent) => void;

/** Passes the events of a host to its listeners, without secrets. */
export interface EventBus {
  /** Calls each listener. Their errors are ignored. */
  emit(this: void, event: HostEvent): void;
  subscribe(this: void, listener: Listener): () => void;
}

/** Creates a bus with an optional first listener. */
export function eventBus(first: Listener | undefined, filterFor: FilterFor): EventBus {
  const listeners = new Set<{ readonly listener: Listener }>();
  const subscribe = (listener: Listener): (() => void) => {
    const entry = { listener };
    listeners.add(entry);
    return () => void listeners.delete(entry);
  };
  if (first) subscribe(first);
  return {
    subscribe,
    emit(original) {
      if (listeners.size === 0) return;
      const event = filterFor(
        "server" in original ? original.server : "decision" in original ? original.decision.server : undefined,
      )(original);
      for (const { listener } of listeners) ignoreErrors(() => listener(event));
    },
  };
}

type Question = (request: object, signal: AbortSignal) => unknown;
type RequestFilter = (request: never, withoutSecrets: WithoutSecrets) => object;

const filterAll = (request: object, withoutSecrets: WithoutSecrets): object => withoutSecrets(request);
/** The user must see what is started, and what is sent to a server. */
const complete = (request: object): object => request;

/** The request of each question, as it leaves the host. */
const requests: Readonly<Record<keyof Renderer, RequestFilter>> = {
  trust: complete,
  review: filterAll,
  approve: complete,
  form: (request: FormRequest, withoutSecrets) => ({
    ...withoutSecrets(request),
    check: (content: FormContent) => withoutSecrets(request.check(content)),
  }),
  url: filterAll,
  signIn: filterAll,
  sample: filterAll,
  sampled: (request: SampledRequest, withoutSecrets) => ({ ...withoutSecrets(request), result: request.result }),
};

/** Returns a renderer whose requests have no secrets. It has the methods that the given one has now. */
export function rendererWithoutSecrets(renderer: Renderer, filterFor: FilterFor): Renderer {
  const methods = renderer as Record<string, Question | undefined>;
  const filteredRenderer: Renderer = {};
  for (const [name, leave] of Object.entries(requests)) {
    const question: Question = (request, signal) =>
      methods[name]?.(leave(request as never, filterFor(serverOf(request))), signal);
    // A program can set a method after the host is made.
    Object.defineProperty(filteredRenderer, name, { get: () => methods[name] && question });
  }
  return filteredRenderer;
}

/** Returns the server that a question is about. */
function serverOf(request: {
  readonly server?: string;
  readonly origin?: { readonly server?: string };
}): string | undefined {
  return request.server ?? request.origin?.server;
}

/** Returns the function that sends the requests of a run or of a server to models. Neither a request nor an error contains a secret. */
export function modelStream(retries: Retries, secrets: KnownSecrets, server: string | undefined): StreamModel {
  const { withoutSecrets } = server === undefined ? secrets : secrets.of(server);
  const messageWithoutSecrets = server === undefined ? secrets.messageWithoutSecrets : withoutSecrets;
  return async function* stream(model, request) {
    const { messages, ...settings } = request;
    const filteredRequest = {
      ...withoutSecrets(settings),
      messages: messages.map((message) => messageWithoutSecrets(message)),
    };
    try {
      yield* streamModel(model, filteredRequest, retries);
    } catch (error) {
      throw withoutSecrets(error);
    }
  };
}
