import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import initSqlJs from "sql.js";

/** Writes library.sqlite, the database that the server opens unless another file is given. */
const file = process.argv[2] ?? fileURLToPath(new URL("library.sqlite", import.meta.url));

const { Database } = await initSqlJs();
const database = new Database();
database.run(`
  CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER NOT NULL);
  CREATE TABLE books (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    year INTEGER NOT NULL,
    author INTEGER NOT NULL REFERENCES authors (id)
  );
  INSERT INTO authors VALUES (1, 'Jane Austen', 1775), (2, 'George Eliot', 1819), (3, 'Virginia Woolf', 1882);
  INSERT INTO books (title, year, author) VALUES
    ('Sense and Sensibility', 1811, 1), ('Pride and Prejudice', 1813, 1), ('Emma', 1815, 1),
    ('Silas Marner', 1861, 2), ('Middlemarch', 1871, 2),
    ('Mrs Dalloway', 1925, 3), ('To the Lighthouse', 1927, 3), ('Orlando', 1928, 3);
`);
writeFileSync(file, database.export());
