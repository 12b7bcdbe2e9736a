import type { Revision } from "../../mcp/revisions/revision.ts";
import type { TransportFactory } from "./transports.ts";

/** The revision with which a target was opened before. */
export interface Known {
  readonly revision: Revision;
  /** The server has the transport of the first revision. */
  readonly isOlder: boolean;
}

/** The revisions of targets, for the lifetime of the process. */
const remembered = new Map<string, Known>();
const maxRemembered = 1000;

export function recall({ target }: TransportFactory): Known | undefined {
  return remembered.get(target);
}

export function remember({ target, transient }: TransportFactory, known: Known): void {
  if (transient) return;
  remembered.delete(target);
  remembered.set(target, known);
  if (remembered.size > maxRemembered) remembered.delete(remembered.keys().next().value!);
}

/** Forgets the remembered revision of one target. */
export function forgetEra({ target }: TransportFactory): void {
  remembered.delete(target);
}

/** Forgets the remembered revisions of all targets. */
export function forgetEras(): void {
  remembered.clear();
}
