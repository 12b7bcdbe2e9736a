/** Returns a word of a command that a user pastes into a shell: in quotes if the shell could split or change it. */
export function quotedWord(word: string, platform: string = process.platform): string {
  if (/^[\w@%+=:,./\\~-]+$/.test(word)) return word;
  return platform === "win32" ? `"${word}"` : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
