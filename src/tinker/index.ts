// Tinker's API: its wire, for clients and servers, and a client of it.

export * from './wire/index.ts';
