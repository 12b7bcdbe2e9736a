import type { CatalogueSource } from "../catalogue/create-catalogue.ts";
import type { ServerLists } from "../catalogue/catalogue.ts";
import type { DefinitionReview } from "../consent/definition-review.ts";
import { type Definitions, usableOnly } from "../consent/definitions.ts";
import type { ServerSubject } from "../consent/identity.ts";

/** The reason of a review that ended because its lists are outdated. It is made once, and needs no stack of its own. */
const outdatedReason = new Error("The lists of the server were replaced.");

interface ReviewedServer {
  readonly subject: ServerSubject;
  readonly definitions: DefinitionReview;
  readonly catalogue: Pick<CatalogueSource, "replace">;
  readonly report: (error: unknown) => void;
}

/**
 * The lists of one server, of which only the reviewed definitions enter the catalogue. While the user reviews changes, the definitions
 * that were accepted before and have not changed can be used. Newer lists replace a review that still waits.
 */
export class ReviewedLists {
  readonly #setting: ReviewedServer;
  #instructions: string | undefined;
  #hasReviewed = false;
  #isClosed = false;
  #replacing = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** The number of reviews that are running. */
  #reviews = 0;

  constructor(setting: ReviewedServer) {
    this.#setting = setting;
  }

  /** The instructions of the server, if the user has accepted them. */
  get instructions(): string | undefined {
    return this.#instructions;
  }

  /** Reviews the lists that the server has now. Undefined removes its definitions from the catalogue. */
  update(lists: ServerLists | undefined, instructions: string | undefined): void {
    if (this.#isClosed) return;
    this.#replacing.abort(outdatedReason);
    this.#replacing = new AbortController();
    if (lists) this.#running = this.#review({ lists, instructions }, this.#replacing.signal);
    else {
      this.#instructions = undefined;
      this.#setting.catalogue.replace(this.#setting.subject.server, undefined);
    }
  }

  /** Whether a review is running. */
  get isReviewing(): boolean {
    return this.#reviews > 0;
  }

  /** Resolves when no review is running. Never rejects. */
  async waitForReviews(): Promise<void> {
    for (let review; review !== this.#running;) {
      review = this.#running;
      await review;
    }
  }

  /** Ends a review that waits for an answer. Later lists are ignored. */
  close(): void {
    this.#isClosed = true;
    this.#replacing.abort(outdatedReason);
  }

  async #review(receivedDefinitions: Definitions, signal: AbortSignal): Promise<void> {
    const { subject, definitions, catalogue, report } = this.#setting;
    const { server } = subject;
    this.#reviews += 1;
    try {
      const reviewing = definitions.review({ ...subject, ...receivedDefinitions }, signal);
      // The review may wait for the user. Removed and changed definitions leave the catalogue at once.
      if (this.#hasReviewed) {
        const usable = usableOnly(receivedDefinitions, (kind, definition) =>
          definitions.isUsable(server, kind, definition),
        );
        catalogue.replace(server, usable.lists);
      }
      const { instructions, lists } = await reviewing;
      if (signal.aborted) return;
      this.#hasReviewed = true;
      this.#instructions = instructions;
      catalogue.replace(server, lists);
    } catch (error) {
      if (!signal.aborted) report(error);
    } finally {
      this.#reviews -= 1;
    }
  }
}
