import { type Attributes, type Span, SpanStatusCode } from "@opentelemetry/api";
import { redact } from "../rpc/redact.ts";
import { type End, endAttributes, errorType } from "./attributes.ts";

/** The resource that a call is about, for its span alone: there may be any number of them. */
export function uriOf({ method, name }: { method: string; name: string | undefined }): Attributes {
  return method.startsWith("resources/") && name !== undefined ? { "mcp.resource.uri": redact(name) } : {};
}

/** Ends the span of a call with how the call ended. */
export function endSpan(span: Span, end: End & { message: string | undefined }): void {
  span.setAttributes(endAttributes(end));
  if (errorType(end) !== undefined) {
    const message = end.message === undefined ? {} : { message: redact(end.message) };
    span.setStatus({ code: SpanStatusCode.ERROR, ...message });
  }
  span.end();
}
