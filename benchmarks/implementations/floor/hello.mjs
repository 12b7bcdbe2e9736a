// @ts-check

/* The least that a process does which says something: it gives back what it is told. */
process.stdin.pipe(process.stdout);
