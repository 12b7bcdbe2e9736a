import { toError } from "../values/errors.ts";
import { LocalError } from "mcparley";
import type { Client, Timeouts } from "mcparley/client";
import { followTasks } from "mcparley/tasks";
import { ActiveCalls } from "../activity/active-calls.ts";
import type { CalledServer } from "../calls/call.ts";
import { confirmScopes } from "../input/elicit-handler.ts";
import { inputHandlers } from "../input/input-handlers.ts";
import { checkLimits } from "../input/input-context.ts";
import { type ServerEntry, type ResolvedEntry, resolveEntry, type HostServer } from "../servers/server-entry.ts";
import type { ServerSecrets } from "../secrets/known-secrets.ts";
import type { ServerTarget, WithoutSecrets } from "../values/types.ts";
import type { PassedOptions, PreparedTarget } from "../supervision/supervisor-setting.ts";
import type { Watchdog } from "../processes/watchdog.ts";
import { Supervisor } from "../supervision/supervisor.ts";
import type { WatchedResource } from "../supervision/watched-resources.ts";
import type { HostParts } from "./host-parts.ts";
import { ReviewedLists } from "./reviewed-lists.ts";

/** A server of a host: its connection, its reviewed definitions and its calls. Neither its members nor its errors contain a secret. */
export class Server implements CalledServer {
  readonly name: string;
  readonly timeout: Timeouts | undefined;
  readonly calls: ActiveCalls = new ActiveCalls();
  readonly secrets: ServerSecrets;
  /** The server without the members that are for the code of the host. */
  readonly public: HostServer;
  readonly #supervisor: Supervisor;
  readonly #reviewedLists: ReviewedLists;

  /** Throws if the name or the entry cannot be used. */
  constructor(parts: HostParts, name: string, entry: ServerEntry) {
    const { consent, catalogue, events, options } = parts;
    const secrets = parts.secrets.of(name);
    this.secrets = secrets;
    const resolvedEntry = resolveEntry(name, entry);
    const { settings, server } = resolvedEntry;
    const target: ServerTarget = server.target;
    secrets.addFrom(target);
    this.name = name;
    this.timeout = settings.timeout;
    const onError = (error: Error): void => events.emit({ type: "error", server: name, error });
    const subject = { server: name, target, entry: settings.entry };
    const reviewedLists = new ReviewedLists({
      subject,
      definitions: consent.definitions,
      catalogue,
      report: (error) => onError(toError(error)),
    });
    this.#reviewedLists = reviewedLists;
    const calls = this.calls;
    this.#supervisor = new Supervisor(resolvedEntry, {
      connectOptions: connectOptions(parts, resolvedEntry, calls),
      admit: (signal) => consent.trust.require(subject, signal),
      prepareTarget: (connectTarget) => prepareTarget(parts.watchdog, secrets, connectTarget),
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
      changeList: secrets.listWithoutSecrets,
      changeInfo: secrets.withoutSecrets,
      storage: parts.storage,
      clock: parts.clock,
      // The user wants the server, so questions that were denied are asked again.
      onReconnect: () => consent.forgetDenials(name),
      onEvent: events.emit,
      onLists: (lists) => reviewedLists.update(lists, this.public.info?.instructions),
      onUpdated: (uri) => events.emit({ type: "updated", server: name, uri }),
      onError,
    });
    this.public = publicMembers(name, this.#supervisor, secrets.withoutSecrets);
  }

  /** The instructions for the model, if the user has accepted them. */
  get instructions(): string | undefined {
    return this.public.state === "disabled" ? undefined : this.#reviewedLists.instructions;
  }

  use<T>(work: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#supervisor.use(work, signal);
  }

  watch(uri: string, listener: (uri: string) => void): WatchedResource {
    const { withoutSecrets, originalOf } = this.secrets;
    return this.#supervisor.watch(originalOf(uri), (updatedUri) => listener(withoutSecrets(updatedUri)));
  }

  /** Connects if the lists are not known, and waits for their review. Never rejects. */
  async ready(): Promise<void> {
    await this.#supervisor.waitForAttempt();
    if (this.public.state !== "disabled" && !this.public.lists) await this.#supervisor.connect().catch(() => {});
    await this.#reviewedLists.waitForReviews();
  }

  /** Whether its lists are being read again, or reviewed. */
  get hasChanges(): boolean {
    return this.#supervisor.hasChanges || this.#reviewedLists.isReviewing;
  }

  /** Resolves when all changes of its lists so far were read and reviewed. Never rejects. */
  async readChanges(): Promise<void> {
    await this.#supervisor.readChanges();
    await this.#reviewedLists.waitForReviews();
  }

  async close(): Promise<void> {
    this.calls.withdraw(new LocalError("closed", `The server ${JSON.stringify(this.name)} was removed.`));
    this.#reviewedLists.close();
    await this.#supervisor.close();
  }
}

/** Returns an object with the public members of a server, which `JSON.stringify` and a spread read. None contains a secret. */
function publicMembers(name: string, supervisor: Supervisor, withoutSecrets: WithoutSecrets): HostServer {
  const leave = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      throw withoutSecrets(error);
    });
  return {
    name,
    get state() {
      return supervisor.state;
    },
    get error() {
      return withoutSecrets(supervisor.error);
    },
    get retryAt() {
      return supervisor.retryAt;
    },
    get info() {
      return supervisor.info;
    },
    get lists() {
      return supervisor.lists;
    },
    connect: () => leave(supervisor.connect()),
    reconnect: () => leave(supervisor.reconnect()),
    signIn: (options) => leave(supervisor.signIn(options)),
    enable: () => supervisor.enable(),
    disable: () => leave(supervisor.disable()),
  };
}

function connectOptions(
  parts: HostParts,
  { name, server, settings }: ResolvedEntry,
  calls: ActiveCalls,
): PassedOptions {
  const { options, events } = parts;
  const hasRoots = settings.roots !== undefined || options.roots !== undefined;
  return {
    ...(options.info && { info: options.info }),
    ...(settings.revision !== undefined && { revision: settings.revision }),
    ...inputHandlers({
      server: name,
      serverHost: server.kind === "http" ? server.target.url.hostname : undefined,
      renderer: parts.renderer,
      model: options.model,
      stream: parts.streamFor(name),
      roots: hasRoots ? () => settings.roots ?? parts.roots : undefined,
      limits: checkLimits(options.inputLimits, settings.inputLimits),
      clock: parts.clock,
      ask: parts.consent.queue,
      contextFor: parts.context.contextFor,
      onDecision: parts.onDecision,
      onUsage: (usage, callLabel) => {
        events.emit({ type: "usage", usage });
        calls.usage(usage, callLabel);
      },
      onActivity: (kind, state, callLabel) => calls.inputRequest(kind, state, callLabel),
      cancelCalls: (callLabel, reason) => calls.cancel(callLabel, reason),
    }),
    extensions: [followTasks({ onTask: (task) => calls.task(task) })],
    onLog: (message) => events.emit({ type: "log", server: name, message }),
  };
}

/** Puts a program behind the watchdog, and learns the credentials of requests, so that no text of the server contains them. */
function prepareTarget(watchdog: Watchdog, secrets: ServerSecrets, target: PreparedTarget): PreparedTarget {
  if ("command" in target) return watchdog.watchTarget(target);
  if ("url" in target && target.auth) return { ...target, auth: secrets.watchAuth(target.auth) };
  return target;
}
