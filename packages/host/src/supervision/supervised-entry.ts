import type { CommandTarget, HttpTarget, InProcessServer, Timeouts } from "mcparley/client";

/** The target of a server, by its kind. */
export type ResolvedTarget =
  | { readonly kind: "http"; readonly target: HttpTarget & { readonly url: URL } }
  | { readonly kind: "command"; readonly target: CommandTarget }
  | { readonly kind: "in-process"; readonly target: InProcessServer };

/** A server to supervise: its name, its target and the settings of its supervision. */
export interface SupervisedEntry {
  readonly name: string;
  readonly server: ResolvedTarget;
  readonly settings: {
    /** Whether the server is not used until `enable()` is called. Default: false. */
    readonly disabled?: boolean;
    /** Whether it is connected at once, and not with the first use. Default: false. */
    readonly eager?: boolean;
    readonly timeout?: Timeouts;
    /** The digest of the entry in a file from which the target comes. Stored lists are then bound to it, and not to the target. */
    readonly entry?: { readonly digest: string } | undefined;
  };
}
