import type { CatalogueSource } from "../catalogue/create-catalogue.ts";
import type { ServerLists } from "../catalogue/catalogue.ts";
import type { Consent } from "../consent/consent.ts";
import { type Definitions, usableOnly } from "../consent/definitions.ts";
import type { DefinitionKind } from "../renderer/renderer.ts";
import type { ServerSubject } from "../consent/identity.ts";

/** The lists of one server, of which only the reviewed definitions enter the catalogue. */
export interface ReviewedLists {
  /** The instructions of the server, if the user has accepted them. */
  readonly instructions: string | undefined;
  /** Reviews the lists that the server has now. Undefined removes its definitions from the catalogue. */
  update(this: void, lists: ServerLists | undefined, instructions: string | undefined): void;
  /** Resolves when no review is running. Never rejects. */
  settled(this: void): Promise<void>;
  /** Ends a review that waits for an answer. Later lists are ignored. */
  close(this: void): void;
}

/** The reason of a review that ended because its lists are outdated. It is made once, and needs no stack of its own. */
const outdated = new Error("The lists of the server were replaced.");

interface ReviewedServer {
  readonly subject: ServerSubject;
  readonly consent: Pick<Consent, "review" | "isUsable">;
  readonly catalogue: Pick<CatalogueSource, "replace">;
  readonly report: (error: unknown) => void;
}

/**
 * Returns the reviewed lists of a server. While the user reviews changes, the definitions that were accepted before and have not
 * changed can be used. Newer lists replace a review that still waits.
 */
export function reviewedLists({ subject, consent, catalogue, report }: ReviewedServer): ReviewedLists {
  const { server } = subject;
  let accepted: string | undefined;
  let hasReviewed = false;
  let isClosed = false;
  let current = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const isUsable = (kind: DefinitionKind, name: string, definition: unknown): boolean =>
    consent.isUsable(server, kind, { name, definition });

  async function review(definitions: Definitions, signal: AbortSignal): Promise<void> {
    try {
      const reviewing = consent.review({ ...subject, ...definitions }, signal);
      // The review may wait for the user. Removed and changed definitions leave the catalogue at once.
      if (hasReviewed) catalogue.replace(server, usableOnly(definitions, isUsable).lists);
      const outcome = await reviewing;
      if (signal.aborted) return;
      hasReviewed = true;
      accepted = outcome.instructions;
      catalogue.replace(server, outcome.lists);
    } catch (error) {
      if (!signal.aborted) report(error);
    }
  }

  return {
    get instructions() {
      return accepted;
    },
    update(lists, instructions) {
      if (isClosed) return;
      current.abort(outdated);
      current = new AbortController();
      if (lists) running = review({ lists, instructions }, current.signal);
      else {
        accepted = undefined;
        catalogue.replace(server, undefined);
      }
    },
    async settled() {
      for (let waited; waited !== running;) {
        waited = running;
        await waited;
      }
    },
    close() {
      isClosed = true;
      current.abort(outdated);
    },
  };
}
