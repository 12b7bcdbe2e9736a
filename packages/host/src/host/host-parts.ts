import { type Clock, systemClock } from "mcparley";
import type { Root } from "mcparley/client";
import { keepingProcess } from "../async/timing.ts";
import { type CatalogueSource, createCatalogue } from "../catalogue/create-catalogue.ts";
import { Consent } from "../consent/consent.ts";
import type { DecisionRecord } from "../consent/policy.ts";
import type { Conversation } from "../context/conversation-context.ts";
import type { Message } from "../conversation/messages.ts";
import { labelTexts } from "../conversation/server-text.ts";
import type { ContextFor, ServerContext } from "../input/sample-handler.ts";
import { hostToolNames } from "../loop/stable-tools.ts";
import { type StreamModel, checkTries } from "../model/stream-model.ts";
import { Watchdog } from "../processes/watchdog.ts";
import type { Renderer } from "../renderer/renderer.ts";
import { type KnownSecrets, knownSecrets } from "../secrets/known-secrets.ts";
import { fileState } from "../state/file-state.ts";
import { type StateStorage, memoryState, userFolder } from "../state/state-storage.ts";
import { type EventBus, type FilterFor, eventBus, modelStream, rendererWithoutSecrets } from "./exits.ts";
import type { HostOptions } from "./host.ts";

/** The parts that the servers, calls and runs of a host share. */
export interface HostParts {
  readonly options: HostOptions;
  readonly clock: Clock;
  /** The clock, with timers that keep the process running. The program must not end while the host waits. */
  readonly wakefulClock: Clock;
  readonly storage: StateStorage;
  readonly consent: Consent;
  /** Asks the user, without secrets. */
  readonly renderer: Renderer;
  readonly catalogue: CatalogueSource;
  readonly secrets: KnownSecrets;
  readonly watchdog: Watchdog;
  readonly events: EventBus;
  readonly context: HostContext;
  /** The roots of the host, which can change. */
  roots: readonly Root[];
  /**
   * Returns the function that sends requests to models: of a run, or of a server that requested sampling. Each repetition of a request is an
   * event.
   */
  streamFor(this: void, server: string | undefined): StreamModel;
  /** Records a decision for an audit. */
  onDecision(this: void, decision: DecisionRecord): void;
}

/** Returns the parts of a host. `isServer` returns whether a name is one of its servers. */
export function hostParts(options: HostOptions, isServer: (name: string) => boolean): HostParts {
  const clock = options.clock ?? systemClock;
  const timers = keepingProcess(clock);
  const isName = (name: string): boolean => isServer(name) || catalogue.current.tool(name) !== undefined;
  const secrets = knownSecrets({ isName, texts: labelTexts });
  if (options.model) secrets.addModels(options.model);
  const filterFor: FilterFor = (server) => (server === undefined ? secrets : secrets.of(server)).withoutSecrets;
  const events = eventBus(options.onEvent, filterFor);
  const renderer = rendererWithoutSecrets(options.renderer ?? {}, filterFor);
  const storage = options.folder === false ? memoryState() : fileState(options.folder ?? userFolder(process));
  const onError = (server: string | undefined, error: Error): void => events.emit({ type: "error", server, error });
  const onDecision = (decision: DecisionRecord): void => events.emit({ type: "decision", decision });
  const catalogue = createCatalogue({
    provider: options.provider,
    reservedNames: hostToolNames,
    onChange: (change) => events.emit({ type: "catalogue", change }),
    onLoss: (loss) => events.emit({ type: "loss", loss }),
    onError,
  });
  const maxTries = checkTries(options.modelTries);
  return {
    options,
    clock,
    wakefulClock: timers,
    storage,
    secrets,
    events,
    watchdog: new Watchdog((error) => onError(undefined, error)),
    renderer,
    context: new HostContext(),
    roots: options.roots ?? [],
    consent: new Consent({ policy: options.policy ?? {}, renderer, storage, clock, onDecision, onError }),
    catalogue,
    streamFor: (server) =>
      modelStream(
        { maxTries, clock: timers, onRetry: (retry) => events.emit({ type: "retry", server, retry }) },
        secrets,
        server,
      ),
    onDecision,
  };
}

/** Maximum characters of the context of one server in a sampling request. */
const MAX_CHARS = 16_000;

/**
 * The context of a host for sampling requests: the texts of servers in its open conversations and running loops. The text of the user and of
 * the model is never included. The user sees which servers a request includes before the model runs.
 */
class HostContext {
  readonly #conversations = new Set<Pick<Conversation, "messages">>();

  /** Adds a conversation until the returned function is called. */
  add(conversation: Pick<Conversation, "messages">): () => void {
    this.#conversations.add(conversation);
    return () => void this.#conversations.delete(conversation);
  }

  readonly contextFor: ContextFor = (scope, server) => {
    const texts = new Map<string, string[]>();
    for (const { messages } of this.#conversations) {
      for (const { source, text } of messages.flatMap(serverTexts)) {
        if (scope === "allServers" || source === server) texts.set(source, [...(texts.get(source) ?? []), text]);
      }
    }
    return [...texts].map(([name, parts]): ServerContext => ({ server: name, text: newest(parts) }));
  };
}

function serverTexts(message: Message): { source: string; text: string }[] {
  if (typeof message.content === "string") return [];
  return message.content.flatMap((part) => {
    const inner = part.type === "tool-result" ? part.content : [part];
    return inner.flatMap((item) =>
      item.type === "text" && item.from ? [{ source: item.from.server, text: item.text }] : [],
    );
  });
}

/** Returns the newest texts within the limit, in their order. */
function newest(parts: readonly string[]): string {
  const newestTexts: string[] = [];
  let length = 0;
  for (const text of parts.toReversed()) {
    length += text.length;
    if (length > MAX_CHARS) break;
    newestTexts.unshift(text);
  }
  return newestTexts.join("\n\n");
}
