import { toError } from "../values/errors.ts";
import { LocalError } from "mcparley";
import type { Client, ServerInfo, Timeouts } from "mcparley/client";
import { followTasks } from "mcparley/tasks";
import { ActiveCalls } from "../activity/active-calls.ts";
import type { CalledServer } from "../calls/call.ts";
import type { ServerLists } from "../catalogue/catalogue.ts";
import { confirmScopes } from "../input/elicit-handler.ts";
import { inputHandlers } from "../input/input-handlers.ts";
import { checkLimits } from "../input/input-context.ts";
import { type ServerEntry, type ServerSettings, resolveEntry, type HostServer } from "../servers/server-entry.ts";
import type { ServerTarget } from "../values/types.ts";
import type { PassedOptions, PreparedTarget } from "../supervision/supervisor-setting.ts";
import type { ServerState } from "../supervision/server-state.ts";
import { Supervisor } from "../supervision/supervisor.ts";
import type { WatchedResource } from "../supervision/watched-resources.ts";
import type { HostParts } from "./host-parts.ts";
import { ReviewedLists } from "./reviewed-lists.ts";

/** A server of a host: its connection, its reviewed definitions and its calls. Neither its members nor its errors contain a secret. */
export class Server implements CalledServer {
  readonly name: string;
  readonly timeout: Timeouts | undefined;
  readonly calls: ActiveCalls = new ActiveCalls();
  /** The server without the members that are for the code of the host. */
  readonly public: HostServer;
  readonly #parts: HostParts;
  readonly #supervisor: Supervisor;
  readonly #reviewed: ReviewedLists;

  /** Throws if the name or the entry cannot be used. */
  constructor(parts: HostParts, name: string, entry: ServerEntry) {
    const { consent, catalogue, secrets, events, options } = parts;
    const resolved = resolveEntry(name, entry);
    const { settings, server } = resolved;
    const target: ServerTarget = server.target;
    secrets.addFrom(target);
    this.name = name;
    this.timeout = settings.timeout;
    this.#parts = parts;
    const onError = (error: Error): void => events.emit({ type: "error", server: name, error });
    const subject = { server: name, target, entry: settings.entry };
    const reviewed = new ReviewedLists({
      subject,
      definitions: consent.definitions,
      catalogue,
      report: (error) => onError(toError(error)),
    });
    this.#reviewed = reviewed;
    const calls = this.calls;
    this.#supervisor = new Supervisor(resolved, {
      connectOptions: connectOptions(parts, { name, settings, calls, target }),
      admit: (signal) => consent.trust.require(subject, signal),
      prepareTarget: (prepared) => prepareTarget(parts, prepared),
      auth: {
        signIn: options.signIn,
        confirmScopes: confirmScopes({
          server: name,
          clock: parts.clock,
          renderer: parts.renderer,
          calls,
          ask: consent.queue,
          onDecision: parts.onDecision,
        }),
        authorization: options.authorization,
        credentials: options.credentials,
        watchStorage: secrets.watchStorage,
        onStep: (step) => events.emit({ type: "sign-in", server: name, step }),
      },
      changeValues: secrets.withoutSecrets,
      storage: parts.storage,
      clock: parts.clock,
      // The user wants the server, so questions that were denied are asked again.
      onReconnect: () => consent.forgetDenials(name),
      onEvent: events.emit,
      onLists: (lists) => reviewed.update(lists, this.info?.instructions),
      onUpdated: (uri) => events.emit({ type: "updated", server: name, uri }),
      onError,
    });
    this.public = publicMembers(this);
  }

  get state(): ServerState {
    return this.#supervisor.state;
  }

  get error(): Error | undefined {
    return this.#parts.secrets.withoutSecrets(this.#supervisor.error);
  }

  get retryAt(): number | undefined {
    return this.#supervisor.retryAt;
  }

  get info(): ServerInfo | undefined {
    return this.#supervisor.info;
  }

  get lists(): ServerLists | undefined {
    return this.#supervisor.lists;
  }

  /** The instructions for the model, if the user has accepted them. */
  get instructions(): string | undefined {
    return this.state === "disabled" ? undefined : this.#reviewed.instructions;
  }

  readonly connect = (): Promise<void> => this.#leave(this.#supervisor.connect());

  readonly reconnect = (): Promise<void> => this.#leave(this.#supervisor.reconnect());

  readonly signIn = (options?: { scope?: string }): Promise<void> => this.#leave(this.#supervisor.signIn(options));

  readonly enable = (): void => this.#supervisor.enable();

  readonly disable = (): Promise<void> => this.#leave(this.#supervisor.disable());

  use<T>(work: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#supervisor.use(work, signal);
  }

  watch(uri: string, listener: (uri: string) => void): WatchedResource {
    const { withoutSecrets } = this.#parts.secrets;
    return this.#supervisor.watch(uri, (updated) => listener(withoutSecrets(updated)));
  }

  /** Connects if the lists are not known, and waits for their review. Never rejects. */
  async ready(): Promise<void> {
    await this.#supervisor.settled();
    if (this.state !== "disabled" && !this.lists) await this.#supervisor.connect().catch(() => {});
    await this.#reviewed.settled();
  }

  async close(): Promise<void> {
    this.calls.withdraw(new LocalError("closed", `The server ${JSON.stringify(this.name)} was removed.`));
    this.#reviewed.close();
    await this.#supervisor.close();
  }

  #leave<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw this.#parts.secrets.withoutSecrets(error);
    });
  }
}

/** Returns an object with the public members of a server, which `JSON.stringify` and a spread read. */
function publicMembers(server: Server): HostServer {
  const { name, connect, reconnect, signIn, enable, disable } = server;
  return {
    name,
    get state() {
      return server.state;
    },
    get error() {
      return server.error;
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
    connect,
    reconnect,
    signIn,
    enable,
    disable,
  };
}

interface Connecting {
  readonly name: string;
  readonly settings: Omit<ServerSettings, "target">;
  readonly calls: ActiveCalls;
  readonly target: ServerTarget;
}

function connectOptions(parts: HostParts, { name, settings, calls, target }: Connecting): PassedOptions {
  const { options, events } = parts;
  const hasRoots = settings.roots !== undefined || options.roots !== undefined;
  return {
    ...(options.info && { info: options.info }),
    ...(settings.revision !== undefined && { revision: settings.revision }),
    ...inputHandlers({
      server: name,
      serverHost: typeof target === "object" && "url" in target ? new URL(target.url).hostname : undefined,
      renderer: parts.renderer,
      model: options.model,
      stream: parts.streamFor(name),
      roots: hasRoots ? () => settings.roots ?? parts.roots : undefined,
      limits: checkLimits(options.inputLimits, settings.inputLimits),
      clock: parts.clock,
      ask: parts.consent.queue,
      contextFor: parts.context.contextFor,
      onDecision: parts.onDecision,
      onActivity: (kind, state, during) => calls.inputRequest(kind, state, during),
      cancelCalls: (during, reason) => calls.cancel(during, reason),
    }),
    extensions: [followTasks({ onTask: (task) => calls.task(task) })],
    onLog: (message) => events.emit({ type: "log", server: name, message }),
  };
}

/** Puts a program behind the watchdog, and learns the credentials of requests, so that no text of the server contains them. */
function prepareTarget({ watchdog, secrets }: HostParts, target: PreparedTarget): PreparedTarget {
  if ("command" in target) return watchdog.watched(target);
  if ("url" in target && target.auth) return { ...target, auth: secrets.watchAuth(target.auth) };
  return target;
}
