/** Returns the forms in which a server could send a secret back: as it is, percent-encoded, in JSON, and in base64. */
export function secretForms(secret: string): string[] {
  const percent = encodeURIComponent(secret);
  const lowerCase = percent.replaceAll(/%[\dA-F]{2}/g, (code) => code.toLowerCase());
  const json = JSON.stringify(secret).slice(1, -1);
  const base64 = [0, 1, 2].flatMap((bytesBefore) => base64Within(secret, bytesBefore));
  // Without padding, so that the forms with and without padding match.
  const whole = Buffer.from(secret).toString("base64url");
  return [...new Set([secret, percent, lowerCase, json, whole, standardBase64(whole), ...base64])];
}

/** Returns the texts that show that a word is a password: in a URL, behind a name, and in JSON. */
export function namedForms(word: string): string[] {
  const json = JSON.stringify(word);
  return [
    `:${encodeURIComponent(word)}@`,
    ...["password=", "PASSWORD=", "password: "].map((name) => `${name}${word}`),
    ...['"password":', '"password": '].map((name) => `${name}${json}`),
  ];
}

/**
 * Returns the base64 of a secret inside of a longer text, such as `user:secret`. It depends on the number of bytes before the
 * secret, modulo three. Characters that also depend on the bytes around the secret are left out.
 */
function base64Within(secret: string, bytesBefore: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)]);
  const first = Math.ceil((bytesBefore * 8) / 6);
  const form = bytes.toString("base64url").slice(first, Math.floor((bytes.length * 8) / 6));
  return [form, standardBase64(form)];
}

function standardBase64(text: string): string {
  return text.replaceAll("-", "+").replaceAll("_", "/");
}
