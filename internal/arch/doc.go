// Package arch parses the source tree and reports violations of the rules in docs/architecture.md. Its test checks this repository, so that
// a broken rule fails the tests.
//
// The rules:
//   - imports between packages (imports.go), and which modules of this repository require each other (modules.go);
//   - the maps in README.md and docs/architecture.md name every room (maps.go);
//   - every package has a package comment, and at least 95 % of the exported names have a comment (docs.go);
//   - every package that other modules can import has an Example that runs (examples.go);
//   - no file is longer than 500 lines, no production function longer than 80 (size.go);
//   - no test sleeps on the real clock (sleep.go);
//   - package names describe the contents (name.go);
//   - no struct embeds a configuration (embed.go);
//   - a type built from a configuration stores it in an unexported field (service.go);
//   - the HTTP handlers open transactions for idempotent answers only (atomic.go);
//   - only the packages of transport/oas contain generated code, and neither copied code nor binaries are committed, except for
//     listed data (foreign.go).
//
// The tree is parsed but not compiled. So the rules apply to the files of every platform, even in a package that doesn't build.
package arch
