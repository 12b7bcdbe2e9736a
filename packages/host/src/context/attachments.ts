import { AttachedResource, type AttachmentParts } from "./attached-resource.ts";
import type { Attachment, ContextOptions, ResourceName, StoredAttachment } from "./conversation-context.ts";

/** The attached resources of one conversation. */
export interface Attachments {
  attach(this: void, resource: ResourceName, options: ContextOptions): Promise<Attachment>;
  detach(this: void, resource: ResourceName): Promise<boolean>;
  refresh(this: void, options: ContextOptions): Promise<readonly Attachment[]>;
  list(this: void): readonly Attachment[];
  toJSON(this: void): readonly StoredAttachment[];
  close(this: void): Promise<void>;
}

/** Returns the attachments of a conversation. Stored ones are followed and read with the first `refresh`. */
export function createAttachments(parts: AttachmentParts, stored: readonly StoredAttachment[]): Attachments {
  const resources = new Map(stored.map((entry) => [keyOf(entry), new AttachedResource(parts, entry)]));
  let isClosed = false;
  // One refresh at a time, because two would add the same content twice.
  let refreshing: Promise<unknown> = Promise.resolve();

  async function refreshAll(options: ContextOptions): Promise<readonly Attachment[]> {
    const added: Attachment[] = [];
    for (const resource of Array.from(resources.values())) {
      options.signal?.throwIfAborted();
      // The error is a member of the attachment. One unavailable resource must not prevent a run.
      if (await resource.refresh(options).catch(() => false)) added.push(resource.shown);
    }
    options.signal?.throwIfAborted();
    return added;
  }

  async function detach(name: ResourceName): Promise<boolean> {
    const resource = resources.get(keyOf(name));
    resources.delete(keyOf(name));
    await resource?.detach();
    return resource !== undefined;
  }

  return {
    async attach({ server, uri }, options) {
      if (isClosed) throw new Error("The conversation is closed. Create a new one.");
      const key = keyOf({ server, uri });
      if (resources.has(key)) throw new Error(`The resource "${uri}" of the server "${server}" is attached already.`);
      const resource = new AttachedResource(parts, { server, uri, contentHash: undefined });
      resources.set(key, resource);
      try {
        await resource.refresh(options);
        return resource.shown;
      } catch (error) {
        // The user can have detached it and attached it again during the read.
        if (resources.get(key) === resource) resources.delete(key);
        await resource.detach();
        throw error;
      }
    },
    detach,
    refresh(options) {
      const next = refreshing.then(() => refreshAll(options));
      refreshing = next.catch(() => {});
      return next;
    },
    list: () => Array.from(resources.values(), ({ shown }) => shown),
    toJSON: () => Array.from(resources.values(), ({ stored }) => stored),
    async close() {
      isClosed = true;
      const open = Array.from(resources.values());
      resources.clear();
      await Promise.all(open.map((resource) => resource.detach()));
    },
  };
}

function keyOf({ server, uri }: ResourceName): string {
  return JSON.stringify([server, uri]);
}
