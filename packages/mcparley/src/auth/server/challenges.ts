import type { ResponseHeaders } from "../../http/exchange.ts";
import type { Scheme } from "./presented-token.ts";

export interface ChallengesOptions {
  /** Where the metadata of the resource is. */
  metadataUrl: string;
  /** The ways in which tokens may be shown. */
  schemes: readonly Scheme[];
  /** What a client is told to ask for at first. */
  scopes: readonly string[];
  proofAlgorithms: readonly string[];
}

/** Why a client is sent away, and what would let it in. */
export interface Reason {
  /** The way in which it showed a token; the error is said for this one. */
  scheme: Scheme;
  error: string;
  description?: string;
}

/** Tells clients what is needed: `WWW-Authenticate` of RFC 6750, RFC 9449 and RFC 9728, one challenge for each scheme. */
export class Challenges {
  readonly #options: ChallengesOptions;

  constructor(options: ChallengesOptions) {
    this.#options = options;
  }

  /** The header for a client that showed nothing, or what was not accepted. */
  headers(reason?: Reason): ResponseHeaders {
    return { "www-authenticate": this.#all(reason, this.#options.scopes) };
  }

  /** For one whose token lacks scopes: all that are needed at once (2026-07-28, authorization, Scope Challenge Handling). */
  insufficient(scopes: readonly string[], scheme: Scheme): string {
    return this.#all({ scheme, error: "insufficient_scope" }, scopes);
  }

  #all(reason: Reason | undefined, scopes: readonly string[]): string {
    return this.#options.schemes.map((scheme) => this.#one(scheme, reason, scopes)).join(", ");
  }

  #one(scheme: Scheme, reason: Reason | undefined, scopes: readonly string[]): string {
    const { metadataUrl, proofAlgorithms } = this.#options;
    const parameters: [string, string | undefined][] = [
      ["error", reason?.scheme === scheme ? reason.error : undefined],
      ["error_description", reason?.scheme === scheme ? reason.description : undefined],
      ["resource_metadata", metadataUrl],
      ["scope", scopes.length > 0 ? scopes.join(" ") : undefined],
      ["algs", scheme === "DPoP" ? proofAlgorithms.join(" ") : undefined],
    ];
    const given = parameters.filter((entry): entry is [string, string] => entry[1] !== undefined);
    return `${scheme} ${given.map(([name, value]) => `${name}="${quoted(value)}"`).join(", ")}`;
  }
}

/** What may stand in a quoted string of a header; anything else is replaced. */
function quoted(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&");
}
