export function isEventStream(response: Response): boolean {
  return mediaType(response) === "text/event-stream";
}

export function isJson(response: Response): boolean {
  const type = mediaType(response);
  return type === "application/json" || type.endsWith("+json");
}

export function mediaType(response: Response): string {
  const type = response.headers.get("content-type") ?? "";
  return (type.split(";", 1)[0] as string).trim().toLowerCase();
}
