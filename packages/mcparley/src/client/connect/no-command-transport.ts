import { LocalError } from "../../rpc/errors.ts";
import type { CommandTarget, TransportFactory } from "./transports.ts";

/** Replaces the command transport in runtimes without processes, such as browsers and Workers. Always throws. */
export function commandTransports({ command }: CommandTarget): TransportFactory {
  const message = `"${command}" cannot be started: this runtime cannot start programs. Connect to a URL instead.`;
  throw new LocalError("invalid_target", message);
}
