import { LocalError } from "../../rpc/errors.ts";
import type { CommandTarget, Dialer } from "./transports.ts";

/** Stands in where there are no processes, as in browsers and Workers: says so. */
export function commandDialer({ command }: CommandTarget): Dialer {
  const message = `"${command}" cannot be started: this runtime starts no programs. Connect to a URL instead.`;
  throw new LocalError("invalid_target", message);
}
