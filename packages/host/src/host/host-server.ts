import { type Clock, LocalError } from "mcparley";
import type { InputRequestSource, Root } from "mcparley/client";
import { followTasks } from "mcparley/tasks";
import { ActiveCalls } from "../activity/active-calls.ts";
import type { CatalogueSource } from "../catalogue/create-catalogue.ts";
import type { Consent } from "../consent/consent.ts";
import { confirmScopes } from "../input/confirm-scopes.ts";
import { type InputHandlers, type InputSettings, inputHandlers } from "../input/input-handlers.ts";
import { checkLimits } from "../input/input-limits.ts";
import type { ContextFor } from "../input/sample-handler.ts";
import type { HostOptions } from "./host-options.ts";
import type { ServerEntry, ServerSettings } from "../servers/server-entry.ts";
import type { ServerTarget } from "../values/server-target.ts";
import type { Watchdog } from "../processes/watchdog.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { PreparedTarget } from "../servers/open-connection.ts";
import { resolveEntry } from "../servers/resolve-entry.ts";
import type { HostServer } from "../servers/server-state.ts";
import { type SupervisedServer, superviseServer } from "../servers/supervised-server.ts";
import type { StateStorage } from "../state/state-storage.ts";
import type { EventBus } from "./event-bus.ts";
import { modelRetries } from "./model-retries.ts";
import { type ReviewedLists, reviewedLists } from "./reviewed-lists.ts";

/** The parts that the servers of a host share. */
export interface HostParts {
  readonly options: HostOptions;
  readonly clock: Clock;
  readonly storage: StateStorage;
  readonly consent: Consent;
  readonly catalogue: CatalogueSource;
  readonly secrets: KnownSecrets;
  readonly watchdog: Watchdog;
  readonly events: EventBus;
  readonly contextFor: ContextFor;
  /** Returns the roots of the host, which can change. */
  readonly roots: () => readonly Root[];
}

/** A server with the parts of its host: its connection, its reviewed definitions and its calls. */
export interface HostedServer {
  /** The server without secrets, for the program and its user. */
  readonly shown: HostServer;
  readonly supervised: SupervisedServer;
  readonly reviewed: ReviewedLists;
  readonly calls: ActiveCalls;
  readonly settings: Omit<ServerSettings, "target">;
  close(this: void): Promise<void>;
}

/** Returns a server of a host. Throws if the name or the entry cannot be used. */
export function hostServer(parts: HostParts, name: string, entry: ServerEntry): HostedServer {
  const { consent, catalogue, secrets, events, options } = parts;
  const { settings, server } = resolveEntry(name, entry);
  const target: ServerTarget = server.target;
  secrets.addFrom(target);
  const calls = new ActiveCalls(secrets.hideIn);
  const report = (error: unknown): void => {
    const shown = secrets.hideInError(error instanceof Error ? error : new Error(String(error)));
    events.emit({ type: "error", server: name, error: shown });
  };
  const subject = { server: name, target, entry: settings.entry };
  const reviewed = reviewedLists({ subject, consent, catalogue, report });
  const supervised = superviseServer({
    name,
    entry,
    connectOptions: connectOptions(parts, { name, settings, calls, target }),
    admit: (signal) => consent.requireTrust(subject, signal),
    prepareTarget: (prepared) => prepareTarget(parts, prepared),
    auth: {
      signIn: options.signIn,
      confirmScopes: confirmScopes({
        server: name,
        clock: parts.clock,
        renderer: options.renderer,
        calls,
        ask: consent.queue,
        hideSecrets: secrets.hideIn,
        onDecision: (decision) => events.emit({ type: "decision", decision }),
      }),
      authorization: options.authorization,
      credentials: options.credentials,
      watchStorage: secrets.watchStorage,
      onStep: (step) => events.emit({ type: "sign-in", server: name, step: secrets.hide(step) }),
    },
    hideSecrets: secrets.hideIn,
    storage: parts.storage,
    clock: parts.clock,
    // The user wants the server, so questions that were denied are asked again.
    onReconnect: () => consent.forgetDenials(name),
    onEvent: (event) => events.emit(event.error ? { ...event, error: secrets.hideInError(event.error) } : event),
    onLists: (lists) => reviewed.update(lists, supervised.info?.instructions),
    onUpdated: (uri) => events.emit({ type: "updated", server: name, uri: secrets.hide(uri) }),
    onError: report,
  });
  return {
    shown: shownServer(supervised, secrets),
    supervised,
    reviewed,
    calls,
    settings,
    async close() {
      calls.withdraw(new LocalError("closed", `The server ${JSON.stringify(name)} was removed.`));
      reviewed.close();
      await supervised.close();
    },
  };
}

interface Connecting {
  readonly name: string;
  readonly settings: Omit<ServerSettings, "target">;
  readonly calls: ActiveCalls;
  readonly target: ServerTarget;
}

function connectOptions(parts: HostParts, { name, settings, calls, target }: Connecting): PassedConnectOptions {
  const { options, events, secrets } = parts;
  const hasRoots = settings.roots !== undefined || options.roots !== undefined;
  return {
    ...(options.info && { info: options.info }),
    ...(settings.revision !== undefined && { revision: settings.revision }),
    ...withoutSecrets(secrets, {
      server: name,
      serverHost: typeof target === "object" && "url" in target ? new URL(target.url).hostname : undefined,
      renderer: options.renderer,
      model: options.model,
      retries: modelRetries(parts, name),
      roots: hasRoots ? () => settings.roots ?? parts.roots() : undefined,
      limits: checkLimits(options.inputLimits, settings.inputLimits),
      clock: parts.clock,
      ask: parts.consent.queue,
      contextFor: parts.contextFor,
      onDecision: (decision) => events.emit({ type: "decision", decision }),
      onActivity: (kind, state, during) => calls.inputRequest(kind, state, during),
      cancelCalls: (during, reason) => calls.cancel(during, reason),
    }),
    extensions: [followTasks({ onTask: (task) => calls.task(task) })],
    onLog: (message) => events.emit({ type: "log", server: name, message: secrets.hideIn(message) }),
  };
}

/** Returns the handlers of input requests. The requests contain no secret, because the user and the model receive them. */
function withoutSecrets({ hideIn }: KnownSecrets, settings: InputSettings): InputHandlers {
  const { elicit, sample, ...handlers } = inputHandlers(settings);
  const from = (source: InputRequestSource): InputRequestSource => ({ ...source, server: hideIn(source.server) });
  return {
    ...handlers,
    ...(elicit && { elicit: (params, source) => elicit(hideIn(params), from(source)) }),
    ...(sample && { sample: (params, source) => sample(hideIn(params), from(source)) }),
  };
}

/** Returns a server whose errors contain no secret. */
function shownServer(server: SupervisedServer, { hideInError }: KnownSecrets): HostServer {
  const hidden = (error: unknown): never => {
    throw error instanceof Error ? hideInError(error) : error;
  };
  return {
    name: server.name,
    get state() {
      return server.state;
    },
    get error() {
      return server.error && hideInError(server.error);
    },
    get retryAt() {
      return server.retryAt;
    },
    get info() {
      return server.info;
    },
    get lists() {
      return server.lists;
    },
    connect: () => server.connect().catch(hidden),
    reconnect: () => server.reconnect().catch(hidden),
    signIn: (options) => server.signIn(options).catch(hidden),
    enable: server.enable,
    disable: () => server.disable().catch(hidden),
  };
}

type PassedConnectOptions = NonNullable<Parameters<typeof superviseServer>[0]["connectOptions"]>;

/** Puts a program behind the watchdog, and learns the credentials of requests, so that no text of the server contains them. */
function prepareTarget({ watchdog, secrets }: HostParts, target: PreparedTarget): PreparedTarget {
  if ("command" in target) return watchdog.watched(target);
  if ("url" in target && target.auth) return { ...target, auth: secrets.watchAuth(target.auth) };
  return target;
}
