// Package codec is what the generated packages beside it share: how JSON is read and written, how values are checked, how
// parameters are read, and what goes around an operation. The generated code names members, limits and types, and leaves the rest to
// this package, whose errors have the texts of ogen's own code.
//
// It is written by hand. internal/tools/contract/simplify writes its calls.
package codec
