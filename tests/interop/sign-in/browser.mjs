#!/usr/bin/env node
// A browser for `BROWSER` whose user agrees to everything: it follows the redirects of an authorization URL.
await fetch(process.argv[2]);
