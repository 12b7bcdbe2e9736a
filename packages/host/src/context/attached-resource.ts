import { createHash } from "node:crypto";
import type { ReadResourceResult } from "mcparley";
import type { Awaitable } from "../values/awaitable.ts";
import { withoutDeepLevels } from "../values/map-texts.ts";
import type { FilePart, Message, TextPart } from "../conversation/messages.ts";
import { type TextLimits, serverTextParts } from "../conversation/long-text.ts";
import { readContents } from "../conversation/server-content.ts";
import type { Attachment, ContextOptions, ResourceName, StoredAttachment } from "./conversation-context.ts";

/** The parts of a host that attachments need. */
export interface AttachmentParts {
  readonly readResource: (resource: ResourceName, options: ContextOptions) => Promise<ReadResourceResult>;
  /** Follows the updates of a resource. Returns a function that ends it, or undefined if the server does not support it. */
  readonly watch: (resource: ResourceName, onUpdated: () => void) => Awaitable<(() => unknown) | undefined>;
  readonly limits: TextLimits;
  readonly addMessage: (message: Message) => void;
}

/** One attached resource, from `attach` to `detach`. */
export class AttachedResource {
  readonly #parts: AttachmentParts;
  readonly #name: ResourceName;
  #contentHash: string | undefined;
  #isStale: boolean;
  #isDetached = false;
  #error: Error | undefined;
  #watching: Promise<(() => unknown) | undefined> | undefined;
  #isFollowed = false;

  /** A resource that is restored has the hash of its earlier content. It is stale until it is read. */
  constructor(parts: AttachmentParts, { server, uri, contentHash }: StoredAttachment) {
    this.#parts = parts;
    this.#name = { server, uri };
    this.#contentHash = contentHash;
    this.#isStale = true;
  }

  get shown(): Attachment {
    return { ...this.#name, isStale: this.#isStale, isFollowed: this.#isFollowed, error: this.#error };
  }

  get stored(): StoredAttachment {
    return { ...this.#name, contentHash: this.#contentHash };
  }

  /**
   * Reads the resource if it is stale, and adds its content if that is new. Returns whether it was added. The updates are followed before
   * the first read, so that none between the two is missed.
   */
  async refresh(options: ContextOptions): Promise<boolean> {
    await (this.#watching ??= this.#follow());
    if (!this.#isStale || this.#isDetached) return false;
    // An update during the read makes the resource stale again.
    this.#isStale = false;
    try {
      const result = await this.#parts.readResource(this.#name, options);
      options.signal?.throwIfAborted();
      this.#error = undefined;
      return this.#add(result);
    } catch (error) {
      this.#isStale = true;
      this.#error = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  /** Ends the updates. */
  async detach(): Promise<void> {
    this.#isDetached = true;
    const stop = await this.#watching;
    await stop?.();
  }

  async #follow(): Promise<(() => unknown) | undefined> {
    try {
      const stop = await this.#parts.watch(this.#name, () => (this.#isStale = true));
      this.#isFollowed = stop !== undefined;
      return stop;
    } catch {
      // The resource can still be read. `isFollowed` shows that its updates are missed.
      return undefined;
    }
  }

  #add(result: ReadResourceResult): boolean {
    const contentHash = createHash("sha256")
      .update(JSON.stringify(withoutDeepLevels(result.contents)))
      .digest("hex");
    if (this.#isDetached || contentHash === this.#contentHash) return false;
    const isNew = this.#contentHash === undefined;
    this.#contentHash = contentHash;
    this.#parts.addMessage(resourceMessage(this.#name, { result, isNew, limits: this.#parts.limits }));
    return true;
  }
}

function resourceMessage(
  { server, uri }: ResourceName,
  { result, isNew, limits }: { result: ReadResourceResult; isNew: boolean; limits: TextLimits },
): Message {
  const { text, files } = readContents(result.contents);
  const event = isNew
    ? "The user attached a resource."
    : "An attached resource has changed. This is its new content, which replaces the earlier one.";
  const content: (TextPart | FilePart)[] = [{ type: "text", text: event }];
  content.push(...serverTextParts({ kind: "resource", origin: { server, name: uri }, text }, limits), ...files);
  return { role: "user", content };
}
