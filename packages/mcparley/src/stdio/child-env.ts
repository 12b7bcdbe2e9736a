/** What a program needs to find its home, its tools and its language; none of it is a secret. */
const inherited: readonly string[] =
  process.platform === "win32"
    ? [
        "APPDATA",
        "COMMONPROGRAMFILES",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "NUMBER_OF_PROCESSORS",
        "OS",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "PROGRAMW6432",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERDOMAIN",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
      ]
    : [
        "HOME",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "LC_MESSAGES",
        "LOGNAME",
        "NODE_EXTRA_CA_CERTS",
        "PATH",
        "SHELL",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
      ];

/**
 * The environment of a server's process: what is needed to run at all, and what it was given.
 *
 * The whole environment of a host holds its keys and tokens, which are no business of every server that it starts.
 */
export function childEnv(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  const isGiven = new Set(Object.keys(given).map(fold));
  const env: Record<string, string> = {};
  for (const name of inherited) {
    const value = process.env[name];
    if (value !== undefined && !isGiven.has(fold(name))) env[name] = value;
  }
  return { ...env, ...given };
}

/** Windows knows no case in these names: two spellings would leave it to chance which one is taken. */
function fold(name: string): string {
  return process.platform === "win32" ? name.toUpperCase() : name;
}
