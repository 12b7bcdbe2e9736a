import { isObject } from "../../rpc/messages.ts";
import { findRevision } from "../../mcp/revisions/index.ts";
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from "../header-names.ts";
import { discard } from "./response.ts";
import { sendHttp } from "./send.ts";
import type { HttpSettings } from "./settings.ts";
import type { MessageSink } from "./sse.ts";

/** How long `terminate` waits until the server has ended the session. */
const END_MS = 2_000;
/** How long a standalone stream stays closed after its last try. A successful request then opens it again. */
const STANDALONE_REST_MS = 60_000;

/** The legacy session of an HTTP transport: the headers that name it, and its standalone stream. */
export class LegacySession {
  /** The headers of each message in the session: its id, if the server assigned one, and the negotiated version. */
  readonly headers: Record<string, string> = {};
  readonly #settings: HttpSettings;
  readonly #lifetime: AbortSignal;
  readonly #sink: MessageSink;
  #standalone: "off" | "on" | { restUntil: number } = "off";

  /** `opened` is the response to `initialize`. `sink` receives the messages of the standalone stream. */
  constructor(
    opened: Response,
    settings: HttpSettings,
    { lifetime, sink }: { lifetime: AbortSignal; sink: MessageSink },
  ) {
    this.#settings = settings;
    this.#lifetime = lifetime;
    this.#sink = sink;
    const id = opened.headers.get(SESSION_ID_HEADER);
    // Visible ASCII only (2025-11-25, transports). Other characters could not be sent back.
    if (id !== null && /^[!-~]+$/.test(id)) this.headers[SESSION_ID_HEADER] = id;
  }

  get hasId(): boolean {
    return this.headers[SESSION_ID_HEADER] !== undefined;
  }

  /** Reads the negotiated version from the result of `initialize`. */
  negotiated(result: unknown): void {
    const revision = isObject(result) ? findRevision(result.protocolVersion) : undefined;
    if (revision?.versionHeader) this.headers[PROTOCOL_VERSION_HEADER] = revision.version;
  }

  /** Opens the standalone stream, on which a server sends messages that belong to no request. */
  async openStandalone(): Promise<void> {
    if (!this.hasId || this.#standalone === "on" || this.#lifetime.aborted) return;
    this.#standalone = "on";
    // Only legacy sessions have this stream, so its code is not part of the start.
    const { keepStandalone } = await import("./stream.ts");
    const headers = { ...this.headers };
    const mayReopen = await keepStandalone(this.#settings, headers, { signal: this.#lifetime, sink: this.#sink });
    this.#standalone = mayReopen ? { restUntil: this.#settings.clock.now() + STANDALONE_REST_MS } : "off";
  }

  /** Opens the standalone stream again after a pause: the server answers, so it may have recovered. */
  reopenStandalone(): void {
    const { clock } = this.#settings;
    const mayOpen = typeof this.#standalone === "object" && clock.now() >= this.#standalone.restUntil;
    if (mayOpen) void this.openStandalone();
  }

  /** Asks the server to end the session (2025-11-25, transports, "Session Management"). */
  async terminate(): Promise<void> {
    if (!this.hasId) return;
    const { clock } = this.#settings;
    const controller = new AbortController();
    const timer = clock.setTimeout(() => controller.abort(), END_MS);
    try {
      const outgoing = { method: "DELETE", headers: this.headers, signal: controller.signal } as const;
      discard(await sendHttp(this.#settings, outgoing));
    } catch {
      // The session ends after its idle timeout.
    } finally {
      clock.clearTimeout(timer);
    }
  }
}
