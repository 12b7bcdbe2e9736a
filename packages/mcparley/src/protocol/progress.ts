import type { RequestId } from "../jsonrpc/messages.ts";

export type ProgressToken = string | number;

export interface Progress {
  /** How much is done; it grows with each report. */
  progress: number;
  total?: number;
  message?: string;
}

export interface CancelledParams {
  requestId: RequestId;
  reason?: string;
}
