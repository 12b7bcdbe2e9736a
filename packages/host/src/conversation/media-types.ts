/** Other names of formats, by which servers call them. Providers accept only the usual names. */
const usualNames: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["audio/mp3", "audio/mpeg"],
  ["audio/x-mp3", "audio/mpeg"],
  ["audio/x-mpeg", "audio/mpeg"],
  ["audio/wave", "audio/wav"],
  ["audio/x-wav", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["application/x-pdf", "application/pdf"],
]);

/** Returns a media type in lower case, without parameters, and with the usual name of its format. Empty if there is none. */
export function readMediaType(text: string | undefined): string {
  const type = text?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return usualNames.get(type) ?? type;
}

/** Media types of files that the large model providers read. Other files of servers are left out of a conversation. */
export const modelFileTypes: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "audio/wav",
  "audio/mpeg",
  "application/pdf",
]);

/** Returns whether a file of a media type is a text. */
export function isTextType(mediaType: string): boolean {
  return /^text\/|^application\/(?:.+\+)?(?:json|xml)$/.test(mediaType);
}
