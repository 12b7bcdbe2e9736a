/** Milliseconds by which two clocks may differ without a remark. The times in tokens and proofs have a tolerance. */
const TOLERATED_MS = 5_000;
/** Precision of the header `Date` in milliseconds. */
const PRECISION_MS = 1_000;

/** A response of another machine, and the times of this machine at which the request was sent and the response received. */
export interface TimedResponse {
  readonly headers: { get(name: string): string | null };
  readonly sentAt: number;
  readonly receivedAt: number;
}

/**
 * Returns a sentence about the clock of this machine, if it differs from that of the sender of a response by more than 5 seconds.
 * Empty otherwise, and for a response without a date. `sender` is the name of the sender, such as "the authorization server".
 */
export function clockRemark({ headers, sentAt, receivedAt }: TimedResponse, sender: string): string {
  const date = Date.parse(headers.get("date") ?? "");
  // The sender wrote the date between the two times, and rounded it down.
  const ahead = sentAt - date - PRECISION_MS;
  const behind = date - receivedAt;
  const difference = Math.max(ahead, behind);
  if (!(difference > TOLERATED_MS)) return "";
  const direction = ahead > behind ? "ahead of" : "behind";
  return ` The clock of this machine is ${Math.round(difference / 1_000)} s ${direction} the clock of ${sender}. Correct the clock, because tokens are valid for a limited time.`;
}
