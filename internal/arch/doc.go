// Package arch holds the shape of this code base: it reads the source tree and reports violations of the rules of
// docs/architecture.md. Its test runs it on the repository, so a broken rule is a failed test.
//
// The rules:
//   - imports between packages (imports.go), and which modules of this repository require each other (modules.go);
//   - the maps in README.md and docs/architecture.md name every room (maps.go);
//   - every package has a package comment, and at least 95 % of the exported names have a comment (docs.go);
//   - every package that other modules can import has an Example that runs (examples.go);
//   - no file is longer than 500 lines, no function of the product longer than 80 (size.go);
//   - no test sleeps on the real clock (sleep.go);
//   - package names describe the contents (name.go);
//   - no struct embeds a configuration (embed.go);
//   - a type that is made of a configuration keeps it in an unexported field (service.go);
//   - the HTTP handlers open transactions for idempotent answers only (atomic.go);
//   - generated code lives in the packages of transport/oas and nowhere else, and nobody else's code, nor any binary, is
//     committed (foreign.go).
//
// The tree is parsed, not compiled: the rules hold for files of every platform, and are checked even when a package
// doesn't build.
package arch
