import { toError } from "../values/errors.ts";
import { createHash } from "node:crypto";
import type { ReadResourceResult } from "mcparley";
import type { Awaitable } from "../values/types.ts";
import { withoutDeepLevels } from "../values/map-texts.ts";
import type { FilePart, Message, TextPart } from "../conversation/messages.ts";
import { type TextLimits, serverTextParts } from "../conversation/server-text.ts";
import { readContents } from "../conversation/tool-results.ts";
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
class AttachedResource {
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

  get current(): Attachment {
    return { ...this.#name, isStale: this.#isStale, isFollowed: this.#isFollowed, error: this.#error };
  }

  get storedForm(): StoredAttachment {
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
      this.#error = toError(error);
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

/** The attached resources of one conversation. Stored ones are followed and read with the first `refresh`. */
export class Attachments {
  readonly #parts: AttachmentParts;
  readonly #resources: Map<string, AttachedResource>;
  #isClosed = false;
  // One refresh at a time, because two would add the same content twice.
  #refreshing: Promise<unknown> = Promise.resolve();

  constructor(parts: AttachmentParts, storedAttachments: readonly StoredAttachment[]) {
    this.#parts = parts;
    this.#resources = new Map(
      storedAttachments.map((entry) => [resourceKey(entry), new AttachedResource(parts, entry)]),
    );
  }

  async attach({ server, uri }: ResourceName, options: ContextOptions): Promise<Attachment> {
    if (this.#isClosed) throw new Error("The conversation is closed. Create a new one.");
    const key = resourceKey({ server, uri });
    if (this.#resources.has(key)) {
      throw new Error(`The resource "${uri}" of the server "${server}" is attached already.`);
    }
    const resource = new AttachedResource(this.#parts, { server, uri, contentHash: undefined });
    this.#resources.set(key, resource);
    try {
      await resource.refresh(options);
      return resource.current;
    } catch (error) {
      // The user can have detached it and attached it again during the read.
      if (this.#resources.get(key) === resource) this.#resources.delete(key);
      await resource.detach();
      throw error;
    }
  }

  async detach(name: ResourceName): Promise<boolean> {
    const resource = this.#resources.get(resourceKey(name));
    this.#resources.delete(resourceKey(name));
    await resource?.detach();
    return resource !== undefined;
  }

  refresh(options: ContextOptions): Promise<readonly Attachment[]> {
    const next = this.#refreshing.then(() => this.#refreshAll(options));
    this.#refreshing = next.catch(() => {});
    return next;
  }

  list(): readonly Attachment[] {
    return Array.from(this.#resources.values(), ({ current }) => current);
  }

  toJSON(): readonly StoredAttachment[] {
    return Array.from(this.#resources.values(), ({ storedForm }) => storedForm);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const resources = Array.from(this.#resources.values());
    this.#resources.clear();
    await Promise.all(resources.map((resource) => resource.detach()));
  }

  async #refreshAll(options: ContextOptions): Promise<readonly Attachment[]> {
    const changedAttachments: Attachment[] = [];
    for (const resource of Array.from(this.#resources.values())) {
      options.signal?.throwIfAborted();
      // The error is a member of the attachment. One unavailable resource must not prevent a run.
      if (await resource.refresh(options).catch(() => false)) changedAttachments.push(resource.current);
    }
    options.signal?.throwIfAborted();
    return changedAttachments;
  }
}

function resourceKey({ server, uri }: ResourceName): string {
  return JSON.stringify([server, uri]);
}
